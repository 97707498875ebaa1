/** An analysis at one prevalence, read off the levels that came with it. */
import type { Schemas } from "../client/client";

export type Variable = Schemas["KeyVariableShape"];
export type Level = Schemas["LevelShape"];

/** The level that a number of forms falls into; undefined where so many forms match nothing. */
export function levelAt(variable: Variable, forms: number): Level | undefined {
  return variable.levels.find((level) => level.first <= forms && forms <= level.last);
}

/** The share of forms at a number of them, as text that the server reads back exactly. */
export const prevalenceOf = (forms: number, total: number): string =>
  total === 0 ? "0" : `${forms}/${total}`;

/** Variables with something to match on at this number of forms, largest first. */
export function matched(
  variables: readonly Variable[],
  forms: number,
): { variable: Variable; level: Level }[] {
  const found: { variable: Variable; level: Level }[] = [];
  for (const variable of variables) {
    const level = levelAt(variable, forms);
    if (level && level.codes.length > 0) found.push({ variable, level });
  }
  return found;
}

export type Step = { from: number; to: number; size: number };

/** The steps of effective size against the number of forms; unbounded sizes are cut at `most`. */
export function steps(variable: Variable, most: number): Step[] {
  return variable.levels.map((level) => ({
    from: level.first,
    to: level.last,
    size: typeof level.effective === "number" ? Math.min(level.effective, most) : most,
  }));
}

export const largest = (variables: readonly Variable[]): number =>
  Math.max(
    1,
    ...variables.flatMap((each) =>
      each.levels.map((level) => (typeof level.effective === "number" ? level.effective : 0)),
    ),
  );
