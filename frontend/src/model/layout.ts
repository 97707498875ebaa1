/** Where the nodes of a graph go while it is drawn: columns by how general, left to right.
 *
 * The finest stand in the last column in their order, so that the picture scrolls like a list. Above
 * them each category stands at the mean height of what it is made of.
 */
import type { Draft } from "./graph";

export type Place = { name: string; x: number; y: number; width: number };
export type Layout = { places: Map<string, Place>; width: number; height: number };

const ROW = 34;
const GAP = 64;
const LETTER = 7.4;

export function layOut(draft: Draft, only: ReadonlySet<string> | null = null): Layout {
  const names = [...draft.children.keys()].filter((name) => only === null || only.has(name));
  const kids = (name: string): readonly string[] =>
    (draft.children.get(name) ?? []).filter((kid) => only === null || only.has(kid));
  const heights = new Map<string, number>();
  const heightOf = (name: string, trail: Set<string>): number => {
    const known = heights.get(name);
    if (known !== undefined) return known;
    if (trail.has(name)) return 0;
    trail.add(name);
    const found = Math.max(-1, ...kids(name).map((kid) => heightOf(kid, trail))) + 1;
    trail.delete(name);
    heights.set(name, found);
    return found;
  };
  for (const name of names) heightOf(name, new Set());
  const columns: string[][] = [];
  for (const name of names) (columns[heights.get(name) ?? 0] ??= []).push(name);
  const rank = new Map(draft.order.map((sink, place) => [sink, place]));
  columns[0]?.sort((a, b) => (rank.get(a) ?? 1e9) - (rank.get(b) ?? 1e9));
  const ys = new Map<string, number>();
  columns[0]?.forEach((name, place) => ys.set(name, place * ROW));
  for (const column of columns.slice(1)) {
    const wanted = column.map((name) => {
      const below = kids(name).map((kid) => ys.get(kid) ?? 0);
      return { name, y: below.reduce((sum, y) => sum + y, 0) / Math.max(below.length, 1) };
    });
    wanted.sort((a, b) => a.y - b.y || a.name.localeCompare(b.name));
    let free = -Infinity;
    for (const each of wanted) {
      const y = Math.max(each.y, free);
      ys.set(each.name, y);
      free = y + ROW;
    }
  }
  const widths = columns.map((column) => Math.max(...column.map((name) => widthOf(name)), 60));
  const places = new Map<string, Place>();
  let x = 0;
  for (let column = columns.length - 1; column >= 0; column--) {
    const width = widths[column] ?? 60;
    for (const name of columns[column] ?? []) {
      places.set(name, { name, x, y: ys.get(name) ?? 0, width: widthOf(name) });
    }
    x += width + GAP;
  }
  const lowest = Math.max(0, ...ys.values());
  return { places, width: Math.max(x - GAP, 60), height: lowest + ROW };
}

export const shortened = (name: string): string =>
  name.length > 30 ? `${name.slice(0, 28)}…` : name;

const widthOf = (name: string): number => shortened(name).length * LETTER + 22;
