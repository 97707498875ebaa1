/** The edits that make a variable's graph what was drawn. */
import { definitionOf, type Draft } from "../model/graph";
import type { Edit } from "./form";

/** Names first, so that forms keep what they selected; then the structure, if it is another. */
export function graphEdits(
  variable: { name: string; description: string; sensitive: string[] },
  before: Draft,
  after: Draft,
): Edit[] {
  const edits: Edit[] = [];
  const renamed = new Map<string, string>();
  for (const [now, then] of after.was) {
    if (now !== then) {
      edits.push({ edit: "rename-category", variable: variable.name, category: then, to: now });
      renamed.set(then, now);
    }
  }
  const name = (each: string): string => renamed.get(each) ?? each;
  const kept = new Map([...before.children].map(([each, kids]) => [name(each), kids.map(name)]));
  const isSame =
    kept.size === after.children.size &&
    [...after.children].every(([each, kids]) => {
      const had = kept.get(each);
      return had?.length === kids.length && kids.every((kid) => had.includes(kid));
    }) &&
    before.order.map(name).join("\n") === after.order.join("\n");
  if (!isSame) {
    edits.push({
      edit: "replace-variable",
      variable: variable.name,
      definition: {
        ...definitionOf(after),
        name: variable.name,
        description: variable.description,
        sensitive: variable.sensitive.map(name).filter((each) => after.children.has(each)),
      },
    } as Edit);
  }
  return edits;
}

export function addedVariable(name: string, description: string, drawn: Draft): Edit[] {
  return [
    { edit: "add-variable", definition: { ...definitionOf(drawn), name, description } } as Edit,
  ];
}
