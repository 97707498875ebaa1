import { expect, test } from "vitest";
import { changed, taken, takeAll, withVariable, type Decisions } from "../model/decisions";
import { definitionWords, groupEdits, wayOf } from "../model/groups";
import { levelAt, prevalenceOf, type Variable } from "../model/analysis";
import { matching } from "../model/matching";
import { editsOf, valueOf, type WorkingForm, withEntry } from "./form";

const before: WorkingForm = {
  name: "Bank",
  metadata: { sector: "bank", year: 2030 },
  variables: { Age: ["0-15", "16+"], Sex: [] },
};

test("a working copy becomes the edits that lead to it, the name last", () => {
  const after: WorkingForm = {
    name: "Bank 2 ",
    metadata: { sector: "banks" },
    variables: { Age: ["16+", "0-15"], Tenure: [] },
  };
  expect(editsOf(before, after)).toEqual([
    { edit: "set-metadata", form: "Bank", values: { sector: "banks" }, remove: ["year"] },
    { edit: "drop-variable", form: "Bank", variable: "Sex" },
    { edit: "ask-variable", form: "Bank", variable: "Tenure", labels: [] },
    { edit: "rename-form", form: "Bank", to: "Bank 2" },
  ]);
  expect(editsOf(before, before)).toEqual([]);
});

test("numbers and yes or no are read as such, codes with zeros as text", () => {
  expect([valueOf("2030"), valueOf("-1.5"), valueOf("true"), valueOf("007"), valueOf("a")]).toEqual(
    [2030, -1.5, true, "007", "a"],
  );
});

test("names that begin with what is typed come first", () => {
  expect(matching(["Marital", "Age", "Language"], "a", 2)).toEqual(["Age", "Marital"]);
});

test("a group says how it is defined, and is saved in one way", () => {
  const words = {
    byHand: (n: number) => `${n} by hand`,
    ways: { where: "query", forms: "", union: "any of", intersection: "", difference: "" },
  };
  expect(
    definitionWords(
      { forms: [], where: "", union: ["A", "B"], intersection: [], difference: [] },
      words,
    ),
  ).toBe("any of: A, B");
  expect(wayOf({ forms: [], where: "x = 1", union: [], intersection: [], difference: [] })).toBe(
    "where",
  );
  expect(
    groupEdits(
      { name: "G", description: "" },
      "H",
      "d",
      { forms: [], where: "x = 1", union: [], intersection: [], difference: [] },
      "where",
    ),
  ).toEqual([
    { edit: "replace-group", group: "G", description: "d", where: "x = 1" },
    { edit: "rename-group", group: "G", to: "H" },
  ]);
});

test("decisions are changed one by one and many at a time", () => {
  const decisions = {
    gamekeeper: "decisions 1",
    forms: [
      {
        form: "F",
        questions: [
          {
            question: "q1",
            take: false,
            status: "sure",
            variable: "Sex",
            answers: [{ text: "M", means: "male" }],
          },
          { question: "q2", take: false, status: "unsure", variable: null },
        ],
      },
    ],
  } as unknown as Decisions;
  const all = takeAll(decisions, true, (each) => each.status === "sure");
  expect(taken(all)).toBe(1);
  expect(taken(changed(all, 0, 0, { take: false }))).toBe(0);
  const moved = withVariable(decisions.forms[0]!.questions![0]!, "Gender");
  expect(moved.variable).toBe("Gender");
  expect(moved.answers?.[0]?.means).toBeNull();
});

test("the slider reads the level of a number of forms", () => {
  const variable = {
    levels: [
      { first: 1, last: 4 },
      { first: 5, last: 9 },
    ],
  } as unknown as Variable;
  expect(levelAt(variable, 5)).toEqual({ first: 5, last: 9 });
  expect(levelAt(variable, 10)).toBeUndefined();
  expect(prevalenceOf(2, 10)).toBe("2/10");
});

test("names that objects have anyway are names like any other", () => {
  const empty = { name: "Bank", metadata: {}, variables: {} };
  const metadata = withEntry({}, "__proto__", "x");
  const variables = withEntry({}, "constructor", ["a"]);
  const edits = editsOf(empty, { name: "Bank", metadata, variables });
  expect(JSON.stringify(edits)).toBe(
    '[{"edit":"set-metadata","form":"Bank","values":{"__proto__":"x"},"remove":[]},' +
      '{"edit":"ask-variable","form":"Bank","variable":"constructor","labels":["a"]}]',
  );
  expect(editsOf({ name: "Bank", metadata, variables }, empty).length).toBe(2);
});
