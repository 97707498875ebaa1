/** How numbers and dates are written. */
const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const when = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

export const count = (n: number): string => whole.format(n);

/** A size as the server tells it: a number, a word such as "unbounded", or not known. */
export function size(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "not known";
  return typeof value === "number" ? short.format(value) : value;
}

export const moment = (at: string): string => when.format(new Date(at));

export const percent = (share: number): string =>
  new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }).format(share);
