import { expect, test } from "vitest";
import { columnsOf, nextOrder, rowsOf, shownColumns, type Grid } from "./columns";

const grid: Grid = {
  revision: 1,
  ids: ["a", "b", "c"],
  names: ["Bank 10", "=cmd()", "Bank 9"],
  asked: [3, 1, 2],
  metadata: [{ key: "year", values: [2030, "soon"], cells: [0, -1, 1] }],
  variables: [{ id: "v1", name: "Age", codes: ["C2.001", "?"], rows: [0, 2], cells: [0, 1] }],
};
const columns = columnsOf(grid, { name: "Form", asked: "Asks" });

test("cells are read from columns and dictionaries", () => {
  expect(columns.map((column) => [0, 1, 2].map((row) => column.at(row)))).toEqual([
    ["Bank 10", "=cmd()", "Bank 9"],
    [3, 1, 2],
    [2030, null, "soon"],
    ["C2.001", null, "?"],
  ]);
});

test("names with numbers sort as people read them; nothing comes last in both directions", () => {
  expect(rowsOf(grid, columns, { column: "name", descending: false }, null).slice(1)).toEqual([
    2, 0,
  ]);
  expect(rowsOf(grid, columns, { column: "v:v1", descending: false }, null).at(-1)).toBe(1);
  expect(rowsOf(grid, columns, { column: "v:v1", descending: true }, null).at(-1)).toBe(1);
  expect(rowsOf(grid, columns, null, new Set(["c"]))).toEqual([2]);
});

test("a heading goes up, down, and as it was", () => {
  const up = nextOrder(null, "name");
  const down = nextOrder(up, "name");
  expect([up, down, nextOrder(down, "name")]).toEqual([
    { column: "name", descending: false },
    { column: "name", descending: true },
    null,
  ]);
});

test("names are always shown", () => {
  expect(shownColumns(columns, ["v:v1"]).map((column) => column.id)).toEqual(["name", "v:v1"]);
});
