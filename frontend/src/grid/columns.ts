/** The grid of forms as columns that can be read, filtered and sorted; no page in it. */
import type { Schemas } from "../client/client";

export type Grid = Schemas["Grid"];
export type Cell = string | number | boolean | null;

export type Column = {
  id: string;
  title: string;
  kind: "name" | "number" | "metadata" | "variable";
  /** What form number `row` has; null for nothing. */
  at: (row: number) => Cell;
};

/** Return all columns of a grid: names, numbers of variables, metadata, variables with their codes. */
export function columnsOf(grid: Grid, titles: { name: string; asked: string }): Column[] {
  const columns: Column[] = [
    { id: "name", title: titles.name, kind: "name", at: (row) => grid.names[row] ?? "" },
    { id: "asked", title: titles.asked, kind: "number", at: (row) => grid.asked[row] ?? 0 },
  ];
  for (const each of grid.metadata) {
    columns.push({
      id: `m:${each.key}`,
      title: each.key,
      kind: "metadata",
      at: (row) => {
        const place = each.cells[row] ?? -1;
        return place < 0 ? null : (each.values[place] ?? null);
      },
    });
  }
  for (const each of grid.variables) {
    let places: Map<number, number> | null = null;
    columns.push({
      id: `v:${each.id}`,
      title: each.name,
      kind: "variable",
      at: (row) => {
        // Made when the column is first seen: of two hundred variables few are.
        places ??= new Map(each.rows.map((form, number) => [form, each.cells[number] ?? 0]));
        const place = places.get(row);
        return place === undefined ? null : (each.codes[place] ?? null);
      },
    });
  }
  return columns;
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compare two cells; nothing comes last, in either direction. */
export function compareCells(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

export type Order = { column: string; descending: boolean };

/** Return the numbers of the forms to show, in order. */
export function rowsOf(
  grid: Grid,
  columns: readonly Column[],
  order: Order | null,
  found: ReadonlySet<string> | null,
): number[] {
  const rows: number[] = [];
  for (let row = 0; row < grid.ids.length; row++) {
    if (found === null || found.has(grid.ids[row] ?? "")) rows.push(row);
  }
  const column = order && columns.find((each) => each.id === order.column);
  if (!column) return rows;
  const cells = new Map(rows.map((row) => [row, column.at(row)]));
  const sign = order.descending ? -1 : 1;
  return rows.sort((x, y) => {
    const [a, b] = [cells.get(x) ?? null, cells.get(y) ?? null];
    if (a === null || b === null) return a === b ? x - y : a === null ? 1 : -1;
    return sign * compareCells(a, b) || x - y;
  });
}

/** Return the next order when a heading is pressed: up, down, as it was. */
export function nextOrder(order: Order | null, column: string): Order | null {
  if (order?.column !== column) return { column, descending: false };
  return order.descending ? null : { column, descending: true };
}

/** Return the columns that are shown: those chosen, or the first few. */
export function shownColumns(
  columns: readonly Column[],
  chosen: readonly string[] | null,
): Column[] {
  if (chosen === null) return columns.slice(0, 24);
  const wanted = new Set(["name", ...chosen]);
  return columns.filter((each) => wanted.has(each.id));
}
