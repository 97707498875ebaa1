/** The working copy of a form, and the edits that make the form like it. */
import type { Schemas } from "../client/client";

export type Edit = Schemas["EditsAsked"]["edits"][number];
export type Value = string | number | boolean | null;

export type WorkingForm = {
  name: string;
  metadata: Record<string, Value>;
  /** Variables with the labels selected; none for any level of detail. */
  variables: Record<string, string[]>;
};

/** Whether something is there by a name; names such as `constructor` and `toString` are names too. */
export const has = (record: object, name: string): boolean => Object.hasOwn(record, name);

/** A record with one more entry, or another under its name, whatever the name is. */
export const withEntry = <T>(
  record: Readonly<Record<string, T>>,
  name: string,
  value: T,
): Record<string, T> => Object.fromEntries([...Object.entries(record), [name, value]]);

export function workingCopy(form: Schemas["FormShape"]): WorkingForm {
  return {
    name: form.name,
    metadata: { ...form.metadata },
    variables: Object.fromEntries(
      form.variables.map((each) => [each.variable.name, [...each.labels]]),
    ),
  };
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && [...a].sort().every((each, place) => each === [...b].sort()[place]);

/** Return the edits from a form to its working copy; the name comes last, for others name it. */
export function editsOf(before: WorkingForm, after: WorkingForm): Edit[] {
  const edits: Edit[] = [];
  const values: [string, Value][] = [];
  for (const [key, value] of Object.entries(after.metadata)) {
    if (!has(before.metadata, key) || before.metadata[key] !== value) values.push([key, value]);
  }
  const remove = Object.keys(before.metadata).filter((key) => !has(after.metadata, key));
  if (values.length || remove.length) {
    const made = Object.fromEntries(values);
    edits.push({ edit: "set-metadata", form: before.name, values: made, remove });
  }
  for (const variable of Object.keys(before.variables)) {
    if (!has(after.variables, variable)) {
      edits.push({ edit: "drop-variable", form: before.name, variable });
    }
  }
  for (const [variable, labels] of Object.entries(after.variables)) {
    const had = has(before.variables, variable) ? before.variables[variable] : undefined;
    if (!had || !same(had, labels)) {
      edits.push({ edit: "ask-variable", form: before.name, variable, labels });
    }
  }
  if (after.name.trim() !== before.name) {
    edits.push({ edit: "rename-form", form: before.name, to: after.name.trim() });
  }
  return edits;
}

/** Return the edit that makes a form, with the questions and the universe of the one it is copied from. */
export function addedForm(form: WorkingForm, of: Schemas["FormShape"] | null): Edit[] {
  const fed = new Set(
    of?.variables.filter((each) => each.by_question).map((each) => each.variable.name),
  );
  const variables = Object.fromEntries(
    Object.entries(form.variables).filter(([name]) => !fed.has(name)),
  );
  return [
    {
      edit: "add-form",
      name: form.name.trim(),
      metadata: form.metadata,
      variables,
      questions: of?.questions ?? [],
      universe: of?.universe ?? null,
    },
  ];
}

/** Read what was typed for metadata: a number or yes and no as such, anything else as text. */
export function valueOf(typed: string): Value {
  const text = typed.trim();
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text) ? Number(text) : typed;
}
