/** Every text that is seen is in words.ts: no page has one of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const here = import.meta.dirname;
const pages = readdirSync(here, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".svelte"),
);

/** The template of a component without scripts, styles, comments and what is computed. */
function template(text: string): string {
  const bare = text
    .replace(/<script[\s\S]*?<\/script>/g, "")
    .replace(/<style[\s\S]*?<\/style>/g, "")
    .replace(/<!--[\s\S]*?-->/g, "");
  let kept = "";
  let depth = 0;
  for (const sign of bare) {
    if (sign === "{") depth++;
    else if (sign === "}") depth--;
    else if (depth === 0) kept += sign;
  }
  return kept;
}

test("no page has a text of its own", () => {
  expect(pages.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const name of pages) {
    const bare = template(readFileSync(join(here, name), "utf8"));
    for (const [, text = ""] of bare.matchAll(
      /\s(?:title|aria-label|placeholder|alt)="([^"]*)"/g,
    )) {
      if (/\p{L}/u.test(text)) found.push(`${name}: ${text}`);
    }
    // What a tag does, such as an arrow function, may hold signs that look like its end.
    const between = bare.replace(/=>/g, "").replace(/<[^>]*>/g, "\n");
    for (const line of between.split("\n")) {
      if (/\p{L}{2}/u.test(line)) found.push(`${name}: ${line.trim()}`);
    }
  }
  expect(found).toEqual([]);
});
