/** Groups in words, and as edits. */
import type { Schemas } from "../client/client";
import type { Edit } from "../commands/form";

export type Definition = Schemas["GroupDefinition"];
export type Way = "forms" | "where" | "union" | "intersection" | "difference";

export function wayOf(definition: Definition): Way {
  if (definition.where) return "where";
  for (const way of ["union", "intersection", "difference"] as const) {
    if (definition[way]?.length) return way;
  }
  return "forms";
}

type Words = { byHand: (n: number) => string; ways: Record<Way, string> };

export function definitionWords(definition: Definition, words: Words): string {
  const way = wayOf(definition);
  if (way === "forms") return words.byHand(definition.forms?.length ?? 0);
  const named = way === "where" ? definition.where : (definition[way] ?? []).join(", ");
  return `${words.ways[way]}: ${named}`;
}

/** The definition in the one way that was chosen, as edits carry it: the others are left out. */
export function only(definition: Definition, way: Way): Partial<Record<Way, string | string[]>> {
  return { [way]: definition[way] ?? (way === "where" ? "" : []) };
}

export function groupEdits(
  before: { name: string; description: string } | null,
  name: string,
  description: string,
  definition: Definition,
  way: Way,
): Edit[] {
  const made = only(definition, way);
  if (!before) return [{ edit: "add-group", name, description, ...made } as Edit];
  const edits = [{ edit: "replace-group", group: before.name, description, ...made } as Edit];
  if (name !== before.name) edits.push({ edit: "rename-group", group: before.name, to: name });
  return edits;
}
