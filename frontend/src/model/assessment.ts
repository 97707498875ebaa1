/** The document of an assessment as its page reads it: what `gamekeeper assess --format json` prints. */
import type { Schemas } from "../client/client";
import { words } from "../words";

export type Row = Record<string, string | number | boolean | null>;
type Table = { rows?: Row[]; sentences?: string[] };

/** A sentence without what it says of options of the command line, which a page does not have. */
export const forPages = (line: string): string => line.replace(/ \(--[^)]*\)/g, "");

export type Assessment = {
  sentences: string[];
  notices: string[];
  /** The key variables, in their order. */
  keys: string;
  parts: {
    verdict?: { verdict: string; reservations: string[]; drivers: string[]; advice: string[] };
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
  keys:
    (document.provenance as { parameters?: { keys?: string } } | undefined)?.parameters?.keys ?? "",
  parts: (document.parts as Assessment["parts"] | undefined) ?? {},
});

type Asked = Schemas["AssessAsked"];

/** How a file is read where nothing is said of it. */
export const READING: Schemas["Reading"] = {
  missing_values: [],
  delimiter: null,
  encoding: null,
  decimal: null,
  sheet: null,
  header: true,
};

/** What is asked where nothing is said. */
export const NOTHING_ASKED: Asked = {
  kind: "assess",
  file: { folder: "", name: "" },
  keys: [],
  scenario: "",
  columns: {},
  values: {},
  numbers: [],
  weight: "",
  strata: "",
  fraction: "",
  person: "",
  household: "",
  sensitive: [],
  policy: "",
  missing: "category",
  recodes: [],
  seed: 0,
  max_size: null,
  reading: READING,
};

/** Return the question of a job, as it was asked: it keeps how its file is read beside the rest. */
export function questionOf(job: Schemas["JobShape"]): Asked {
  const kept = job.request;
  const part = <T extends object>(plain: T): T =>
    Object.fromEntries(
      Object.entries(plain).map(([name, value]) => [name, kept[name] ?? value]),
    ) as T;
  return { ...part(NOTHING_ASKED), kind: "assess", file: job.file, reading: part(READING) };
}

/** What was asked, in words: what a verdict rests on always, and whatever else was said. */
export function askedOf(job: Schemas["JobShape"], keys: string): [string, string][] {
  const asked = questionOf(job);
  const { labels, missings, notKnown, noPolicy, fileItself } = words.assess;
  const scenario = asked.scenario ? words.assess.ofScenario(asked.scenario) : "";
  const columns = asked.keys.join(", ") || keys;
  const pairs = (of: Record<string, string>): string =>
    Object.entries(of)
      .map(([name, column]) => `${name}: ${column}`)
      .join(", ");
  const meant = Object.entries(asked.values).map(
    ([name, own]) => `${name} (${Object.keys(own).length})`,
  );
  const { missing_values: read, header, ...how } = asked.reading;
  const told = Object.values(how).filter((each) => each !== null);
  const always: [string, string][] = [
    [labels.file, job.file.name],
    [labels.keys, [columns, scenario].filter(Boolean).join(" ")],
    [labels.fraction, asked.fraction || (asked.weight ? words.assess.byWeights : notKnown)],
    [labels.missing, missings[asked.missing]],
    [labels.policy, asked.policy || noPolicy],
  ];
  const more: [string, string][] = [
    [labels.columns, pairs(asked.columns)],
    [labels.values, meant.join(", ")],
    [labels.numbers, asked.numbers.join(", ")],
    [labels.weight, asked.weight],
    [labels.strata, asked.strata],
    [labels.person, asked.person],
    [labels.household, asked.household],
    [labels.sensitive, asked.sensitive.join(", ")],
    [labels.recodes, asked.recodes.join("; ")],
    [labels.missingValues, read.join(", ")],
    [labels.reading, [...told, ...(header ? [] : [fileItself])].join(", ")],
    [labels.seed, asked.seed ? String(asked.seed) : ""],
    [labels.maxSize, asked.max_size === null ? "" : String(asked.max_size)],
  ];
  return [...always, ...more.filter(([, fact]) => fact)];
}

export type LookedColumn = {
  name: string;
  kind: string;
  levels: number | null;
  missing: number | null;
  note: string;
  isKey: boolean;
};

/** Return the columns that a first look found, with what is suggested as a key. */
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

/**
 * Values that fit no category, as a job left them: by variable, each with its number of records and,
 * for a number that may be the code of a band, with the category that it would be in as a number.
 */
export type Unmapped = { variable: string; value: string; records: number; asNumber: string };

export function unmappedOf(columns: readonly string[], rows: readonly unknown[][]): Unmapped[] {
  const at = (name: string): number => columns.indexOf(name);
  return rows.map((row) => ({
    variable: String(row[at("variable")] ?? ""),
    value: String(row[at("value")] ?? ""),
    records: Number(row[at("records")] ?? 0),
    asNumber: String(row[at("as a number")] ?? ""),
  }));
}

/** Variables whose small numbers may be codes of bands: how many, and what the first would be. */
export function mayBeCodes(found: readonly Unmapped[]) {
  const names = [...new Set(found.filter((each) => each.asNumber).map((each) => each.variable))];
  return names.map((variable) => {
    const own = found.filter((each) => each.variable === variable && each.asNumber);
    const [first] = own;
    return {
      variable,
      n: own.length,
      first: first?.value ?? "",
      firstAsNumber: first?.asNumber ?? "",
    };
  });
}

/** What is still open of what a look found, after what was said of values before. */
export const leftOpen = (
  found: readonly Unmapped[],
  values: Record<string, Record<string, string>>,
): Unmapped[] =>
  found.filter(({ variable, value }) => {
    const own = Object.hasOwn(values, variable) ? values[variable] : undefined;
    return !own || !Object.hasOwn(own, value);
  });

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
