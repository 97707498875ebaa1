/** The document of an assessment as its page reads it: what `gamekeeper assess --format json` prints. */
export type Row = Record<string, string | number | boolean | null>;
type Table = { rows?: Row[]; sentences?: string[] };

/** A sentence without what it says of options of the command line, which a page does not have. */
export const forPages = (line: string): string => line.replace(/ \(--[^)]*\)/g, "");

export type Assessment = {
  sentences: string[];
  notices: string[];
  parts: {
    verdict?: { verdict: string; drivers: string[]; advice: string[] };
    policy?: { name: string; standing: string; rows: Row[] };
    chances?: { basis: string };
    classes?: Table;
    anonymity?: Table;
    variables?: Table;
    guidance?: Table;
  } & Record<string, unknown>;
};

export const assessmentOf = (document: Record<string, unknown>): Assessment => ({
  sentences: (document.sentences as string[] | undefined) ?? [],
  notices: (document.notices as string[] | undefined) ?? [],
  parts: (document.parts as Assessment["parts"] | undefined) ?? {},
});

export type LookedColumn = {
  name: string;
  kind: string;
  levels: number | null;
  missing: number | null;
  note: string;
  isKey: boolean;
};

/** Return the columns that a first look found; what is suggested as a key is chosen. */
export function columnsOf(document: Record<string, unknown>): LookedColumn[] {
  const rows = (document.rows as Row[] | undefined) ?? [];
  const text = (value: unknown): string =>
    value === null || value === undefined ? "" : String(value);
  return rows.map((row) => ({
    name: text(row.column),
    kind: text(row.type),
    levels: typeof row.levels === "number" ? row.levels : null,
    missing: typeof row.missing === "number" ? row.missing : null,
    note: text(row.role),
    isKey: row.role === "key variable",
  }));
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** Return the column whose name is that of a variable but for case and signs; "" where none is. */
export const suggested = (variable: string, columns: readonly string[]): string =>
  columns.find((name) => name === variable) ??
  columns.find((name) => plain(name) === plain(variable)) ??
  "";

/** Return the columns of key variables that have other names in the file, as a request has them. */
export function renamedColumns(
  variables: readonly string[],
  columns: readonly string[],
  chosen: ReadonlyMap<string, string>,
): Record<string, string> {
  const pairs = variables.map((name) => [name, chosen.get(name) ?? suggested(name, columns)]);
  return Object.fromEntries(pairs.filter(([name, column]) => column && column !== name));
}

/** Values that fit no category, as a job left them: by variable, each with its number of records. */
export type Unmapped = { variable: string; value: string; records: number };

export function unmappedOf(columns: readonly string[], rows: readonly unknown[][]): Unmapped[] {
  const at = (name: string): number => columns.indexOf(name);
  return rows.map((row) => ({
    variable: String(row[at("variable")] ?? ""),
    value: String(row[at("value")] ?? ""),
    records: Number(row[at("records")] ?? 0),
  }));
}

/** What was chosen for values, as a request carries it; what is left open is left out. */
export function meanings(
  chosen: ReadonlyMap<string, string>,
): Record<string, Record<string, string>> {
  const made = new Map<string, [string, string][]>();
  for (const [key, category] of chosen) {
    const [variable = "", ...value] = key.split("\n");
    if (!category) continue;
    made.set(variable, [...(made.get(variable) ?? []), [value.join("\n"), category]]);
  }
  return Object.fromEntries([...made].map(([name, values]) => [name, Object.fromEntries(values)]));
}

/** What values meant before, and what is chosen for more of them now. */
export function together(
  before: Record<string, Record<string, string>>,
  now: Record<string, Record<string, string>>,
): Record<string, Record<string, string>> {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return Object.fromEntries([...names].map((name) => [name, { ...before[name], ...now[name] }]));
}
