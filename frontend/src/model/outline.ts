/** A graph as the lines of an outline: the most general first, each in full once. */
import { parents, type Draft } from "./graph";

export type Line = {
  key: string;
  name: string;
  depth: number;
  children: number;
  /** Whether it stands in full further up, under another parent. */
  isReference: boolean;
};

export function outline(
  draft: Draft,
  closed: Readonly<Record<string, boolean>>,
  search: string,
): Line[] {
  const wanted = search.trim().toLowerCase();
  if (wanted) {
    return [...draft.children]
      .filter(([name]) => name.toLowerCase().includes(wanted))
      .map(([name, kids]) => ({
        key: name,
        name,
        depth: 0,
        children: kids.length,
        isReference: false,
      }));
  }
  const rank = new Map(draft.order.map((sink, place) => [sink, place]));
  const first = new Map<string, number>();
  const firstOf = (name: string, trail: Set<string>): number => {
    const known = first.get(name);
    if (known !== undefined) return known;
    if (trail.has(name)) return Infinity;
    trail.add(name);
    const kids = draft.children.get(name) ?? [];
    const found = kids.length
      ? Math.min(...kids.map((kid) => firstOf(kid, trail)))
      : (rank.get(name) ?? Infinity);
    trail.delete(name);
    first.set(name, found);
    return found;
  };
  const inOrder = (names: readonly string[]): string[] =>
    [...names].sort((a, b) => firstOf(a, new Set()) - firstOf(b, new Set()));
  const lines: Line[] = [];
  const seen = new Set<string>();
  const walk = (name: string, depth: number, above: string): void => {
    const kids = draft.children.get(name) ?? [];
    const key = `${above}\n${name}`;
    const isReference = seen.has(name);
    lines.push({ key, name, depth, children: kids.length, isReference });
    if (isReference || closed[key] || depth > 200) return;
    seen.add(name);
    for (const kid of inOrder(kids)) walk(kid, depth + 1, name);
  };
  const roots = [...draft.children.keys()].filter((name) => parents(draft, name).length === 0);
  for (const root of inOrder(roots)) walk(root, 0, "");
  return lines;
}
