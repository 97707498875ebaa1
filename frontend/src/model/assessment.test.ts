import { expect, test } from "vitest";
import { forPages, meanings, renamedColumns, suggested, together } from "./assessment";

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
