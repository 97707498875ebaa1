/** What is decided on the questions of a questionnaire, as pure changes of the list. */
import type { Schemas } from "../client/client";

/** The decisions as the server proposes them, and as it takes them back. */
export type Decisions = Schemas["DecidedAsked"]["decisions"];
export type FormDecisions = Decisions["forms"][number];
export type Decision = NonNullable<FormDecisions["questions"]>[number];

export function changed(
  decisions: Decisions,
  form: number,
  question: number,
  to: Partial<Decision>,
): Decisions {
  return {
    ...decisions,
    forms: decisions.forms.map((each, at) =>
      at !== form
        ? each
        : {
            ...each,
            questions: (each.questions ?? []).map((one, place) =>
              place === question ? { ...one, ...to } : one,
            ),
          },
    ),
  };
}

/** Take, or set aside, all questions that a test finds. */
export function takeAll(
  decisions: Decisions,
  take: boolean,
  of: (decision: Decision) => boolean,
): Decisions {
  return {
    ...decisions,
    forms: decisions.forms.map((each) => ({
      ...each,
      questions: (each.questions ?? []).map((one) => (of(one) ? { ...one, take } : one)),
    })),
  };
}

/** Choose another variable: what its answers mean is then to be said anew. */
export function withVariable(decision: Decision, variable: string): Decision {
  if (variable === decision.variable) return decision;
  return {
    ...decision,
    variable: variable || null,
    take: variable !== "",
    new: false,
    answers: (decision.answers ?? []).map((answer) => ({ ...answer, means: null })),
  };
}

export const taken = (decisions: Decisions): number =>
  decisions.forms.reduce(
    (sum, each) => sum + (each.questions ?? []).filter((one) => one.take).length,
    0,
  );
