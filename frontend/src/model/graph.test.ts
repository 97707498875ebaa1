import { describe, expect, test } from "vitest";
import { graphEdits } from "../commands/graph";
import {
  above,
  addCategory,
  addEdge,
  below,
  draftOf,
  emptyDraft,
  joinCategories,
  judge,
  moveSink,
  overlapping,
  removeCategory,
  removeEdge,
  renameCategory,
  sinksOf,
  splitCategory,
} from "./graph";
import { layOut } from "./layout";
import { outline } from "./outline";

const residence = draftOf({
  scale: "nominal",
  categories: {
    UK: ["Britain", "Northern Ireland"],
    Britain: ["England", "Scotland", "Wales"],
    "non Britain": ["Northern Ireland", "non UK"],
    England: [],
    Scotland: [],
    Wales: [],
    "Northern Ireland": [],
    "non UK": [],
  },
});

describe("the graph of the paper's figure 4", () => {
  test("sinks are reached as the paper says", () => {
    expect(sinksOf(residence, "UK")).toEqual(["England", "Scotland", "Wales", "Northern Ireland"]);
    expect([...below(residence, "non Britain")].sort()).toEqual(
      ["Northern Ireland", "non Britain", "non UK"].sort(),
    );
    expect([...above(residence, "Wales")].sort()).toEqual(["Britain", "UK", "Wales"]);
  });

  test("a categorization is valid if each sink is reached from exactly one category", () => {
    expect(judge(residence, ["Britain", "non Britain"]).isValid).toBe(true);
    expect(judge(residence, ["UK", "non UK"]).isValid).toBe(true);
    expect(judge(residence, ["Britain"]).missing).toEqual(["Northern Ireland", "non UK"]);
    expect([...judge(residence, ["UK", "non Britain"]).doubled.keys()]).toEqual([
      "Northern Ireland",
    ]);
  });
});

describe("drawing", () => {
  test("the paper's own steps end at its figure 4", () => {
    let draft = ["England", "Scotland", "Wales", "non Britain"].reduce(
      (now, name) => addCategory(now, name, null),
      emptyDraft("nominal"),
    );
    draft = joinCategories(draft, ["England", "Scotland", "Wales"], "Britain");
    draft = joinCategories(draft, ["Britain"], "UK");
    draft = addCategory(draft, "Northern Ireland", "UK");
    draft = addEdge(
      splitCategory(draft, "non Britain", ["non UK"]),
      "non Britain",
      "Northern Ireland",
    );
    expect(new Map([...draft.children].map(([name, kids]) => [name, [...kids].sort()]))).toEqual(
      new Map([...residence.children].map(([name, kids]) => [name, [...kids].sort()])),
    );
  });

  test("what cannot be is left as it was", () => {
    expect(addEdge(residence, "England", "UK")).toBe(residence);
    expect(addEdge(residence, "UK", "UK")).toBe(residence);
    expect(addCategory(residence, "UK", null)).toBe(residence);
    expect(renameCategory(residence, "UK", "Britain")).toBe(residence);
    expect(removeEdge(residence, "UK", "England")).toBe(residence);
  });

  test("a new name goes everywhere, and the old one is remembered", () => {
    const draft = renameCategory(residence, "Wales", "Cymru");
    expect(draft.children.get("Britain")).toContain("Cymru");
    expect(draft.order).toContain("Cymru");
    expect(draft.was.get("Cymru")).toBe("Wales");
  });

  test("a removed category leaves no edge behind", () => {
    const draft = removeCategory(residence, "Northern Ireland");
    expect([...draft.children.values()].flat()).not.toContain("Northern Ireland");
    expect(draft.order).not.toContain("Northern Ireland");
  });

  test("overlapping parts are found", () => {
    expect(overlapping(residence)).toEqual([]);
    expect(overlapping(addEdge(residence, "UK", "England"))).toEqual(["UK"]);
  });

  test("sinks change places", () => {
    expect(moveSink(residence, "Scotland", -1).order.slice(0, 2)).toEqual(["Scotland", "England"]);
    expect(moveSink(residence, "England", -1)).toBe(residence);
  });
});

describe("edits", () => {
  const about = { name: "Place", description: "", sensitive: ["Wales"] };

  test("a new name alone is a rename, so that forms keep what they selected", () => {
    expect(graphEdits(about, residence, renameCategory(residence, "Wales", "Cymru"))).toEqual([
      { edit: "rename-category", variable: "Place", category: "Wales", to: "Cymru" },
    ]);
  });

  test("another structure is another definition, with marks under their new names", () => {
    const drawn = addCategory(renameCategory(residence, "Wales", "Cymru"), "Abroad", null);
    const edits = graphEdits(about, residence, drawn);
    expect(edits.map((each) => each.edit)).toEqual(["rename-category", "replace-variable"]);
    expect(edits[1]).toMatchObject({ definition: { sensitive: ["Cymru"] } });
  });

  test("what is as it was makes no edit", () => {
    expect(graphEdits(about, residence, residence)).toEqual([]);
  });
});

test("an outline has every category in full once", () => {
  const lines = outline(residence, {}, "");
  const full = lines.filter((line) => !line.isReference).map((line) => line.name);
  expect(full.sort()).toEqual([...residence.children.keys()].sort());
  expect(lines.filter((line) => line.isReference).map((line) => line.name)).toEqual([
    "Northern Ireland",
  ]);
  expect(outline(residence, {}, "brit").map((line) => line.name)).toEqual([
    "Britain",
    "non Britain",
  ]);
});

test("a layout puts the general to the left of the fine and nothing on top of another", () => {
  const { places } = layOut(residence);
  for (const [name, kids] of residence.children) {
    for (const kid of kids) expect(places.get(name)!.x).toBeLessThan(places.get(kid)!.x);
  }
  const boxes = [...places.values()];
  for (const a of boxes)
    for (const b of boxes)
      if (a !== b && a.x < b.x + b.width && b.x < a.x + a.width)
        expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(26);
});
