import { expect, test } from "vitest";
import type { Schemas } from "../client/client";
import {
  askedOf,
  forPages,
  leftOpen,
  mayBeCodes,
  meanings,
  NOTHING_ASKED,
  questionOf,
  renamedColumns,
  suggested,
  together,
  unmappedOf,
} from "./assessment";

test("columns are suggested by name, but for case and signs", () => {
  const columns = ["age", "Age", "marital_status", "x"];
  expect(suggested("Age", columns)).toBe("Age");
  expect(suggested("Marital status", columns)).toBe("marital_status");
  expect(suggested("Sex", columns)).toBe("");
});

test("only columns with another name are sent", () => {
  const chosen = new Map([
    ["Sex", "x"],
    ["Age", ""],
  ]);
  const made = renamedColumns(["Age", "Sex", "__proto__"], ["age", "x"], chosen);
  expect(Object.entries(made)).toEqual([["Sex", "x"]]);
});

test("what values mean is sent whatever they are called", () => {
  const made = meanings(
    new Map([
      ["__proto__\nconstructor", "a"],
      ["Age\ntwo\nlines", "b"],
      ["Age\nopen", ""],
    ]),
  );
  expect(JSON.stringify(made)).toBe('{"__proto__":{"constructor":"a"},"Age":{"two\\nlines":"b"}}');
});

test("what values meant before is kept when more are mapped", () => {
  const made = together({ Sex: { F: "female" }, Age: { x: "0" } }, { Sex: { M: "male" } });
  expect(made).toEqual({ Sex: { F: "female", M: "male" }, Age: { x: "0" } });
});

test("pages leave out what is said of the command line", () => {
  expect(forPages("Too many (--records FILE lists them). Look.")).toBe("Too many. Look.");
  expect(forPages("It is (by far) the largest.")).toBe("It is (by far) the largest.");
});

const job = (request: Record<string, unknown>): Schemas["JobShape"] =>
  ({ file: { folder: "files", name: "people.csv" }, request }) as Schemas["JobShape"];

test("the question of a job is the one that was asked, with how its file is read", () => {
  const request = { keys: ["age"], fraction: "2%", missing: "ignore", header: false, decimal: "," };
  const asked = questionOf(job(request));
  expect(asked).toEqual({
    ...NOTHING_ASKED,
    file: { folder: "files", name: "people.csv" },
    keys: ["age"],
    fraction: "2%",
    missing: "ignore",
    reading: { ...NOTHING_ASKED.reading, header: false, decimal: "," },
  });
});

test("what a verdict rests on is told always, and the rest where it was said", () => {
  const bare = new Map(askedOf(job({ keys: ["age", "sex"] }), ""));
  expect([...bare.keys()]).toEqual([
    "File",
    "What an intruder knows",
    "Sampling fraction",
    "Missing cells",
    "Judged by",
  ]);
  expect(bare.get("What an intruder knows")).toBe("age, sex");
  expect(bare.get("Sampling fraction")).toBe("not known");
  const request = {
    scenario: "A clerk",
    weight: "w",
    numbers: ["Age"],
    values: { Sex: { F: "f" } },
  };
  const told = new Map(askedOf(job({ ...request, strata: "s", header: false }), "Age, Sex"));
  expect(told.get("What an intruder knows")).toBe("Age, Sex as in the scenario A clerk");
  expect(told.get("Sampling fraction")).toBe("by the weights");
  expect(told.get("Values given a meaning")).toBe("Sex (1)");
  expect(told.get("Numbers, and no codes")).toBe("Age");
  expect(told.get("Strata")).toBe("s");
  expect(told.get("Read as")).toContain("no line");
});

test("every part of a question is told", () => {
  const said = Object.keys(NOTHING_ASKED).filter((name) => !["kind", "reading"].includes(name));
  const values: Record<string, unknown> = { columns: { a: "b" }, values: { a: { b: "c" } } };
  const text = (name: string): unknown =>
    values[name] ?? (Array.isArray(NOTHING_ASKED[name as "keys"]) ? ["zz"] : "zz");
  for (const name of said.filter((each) => !["file", "missing", "seed", "max_size"].includes(each)))
    expect(JSON.stringify(askedOf(job({ [name]: text(name) }), ""))).toMatch(/zz|a: b|a \(1\)/);
  expect(JSON.stringify(askedOf(job({ seed: 7, max_size: 3 }), ""))).toContain('"7"');
});

test("numbers that may be codes are asked about by variable, and what was said is not asked again", () => {
  const columns = ["variable", "value", "label", "records", "as a number", "category"];
  const found = unmappedOf(columns, [
    ["Age", "1", "", 4, "0-15", ""],
    ["Age", "2", "", 5, "0-15", ""],
    ["Sex", "F", "", 9, "", ""],
  ]);
  expect(mayBeCodes(found)).toEqual([{ variable: "Age", n: 2, first: "1", firstAsNumber: "0-15" }]);
  const left = leftOpen(found, { Age: { "1": "0-15" } });
  expect(left.map((each) => each.value)).toEqual(["2", "F"]);
  const odd = { variable: "__proto__", value: "toString", records: 1, asNumber: "" };
  expect(leftOpen([odd], {})).toEqual([odd]);
});
