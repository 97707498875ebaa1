/** A partition graph that is being drawn: categories, what each is made of, and the finest in order.
 *
 * Every change returns a new graph, so that undo is to go back to an earlier one. A half-drawn graph
 * need not be a partition graph; the server has the last word on that.
 */
export type Draft = {
  scale: "nominal" | "ordinal";
  /** Every category with its children; a sink has none. */
  children: ReadonlyMap<string, readonly string[]>;
  /** The sinks in their order. */
  order: readonly string[];
  /** Names that categories had when drawing began, by the names that they have now. */
  was: ReadonlyMap<string, string>;
};

export type Definition = {
  scale: "nominal" | "ordinal";
  categories: Record<string, string[]>;
  order?: string[] | null;
};

export function draftOf(definition: Definition): Draft {
  const children = new Map(Object.entries(definition.categories));
  const sinks = [...children].filter(([, below]) => below.length === 0).map(([name]) => name);
  const order = definition.order?.length ? definition.order : sinks;
  const was = new Map([...children.keys()].map((name) => [name, name]));
  return { scale: definition.scale, children, order, was };
}

export const emptyDraft = (scale: Draft["scale"]): Draft => ({
  scale,
  children: new Map(),
  order: [],
  was: new Map(),
});

export function parents(draft: Draft, name: string): string[] {
  return [...draft.children].filter(([, below]) => below.includes(name)).map(([parent]) => parent);
}

/** Return all that lies below a category, itself included. */
export function below(draft: Draft, name: string): Set<string> {
  const found = new Set<string>();
  const walk = (each: string): void => {
    if (found.has(each)) return;
    found.add(each);
    for (const child of draft.children.get(each) ?? []) walk(child);
  };
  walk(name);
  return found;
}

/** Return all that lies above a category, itself included. */
export function above(draft: Draft, name: string): Set<string> {
  const found = new Set([name]);
  let grew = true;
  while (grew) {
    grew = false;
    for (const [parent, children] of draft.children) {
      if (!found.has(parent) && children.some((child) => found.has(child))) {
        found.add(parent);
        grew = true;
      }
    }
  }
  return found;
}

export function sinksOf(draft: Draft, name: string): string[] {
  const all = below(draft, name);
  return draft.order.filter((sink) => all.has(sink));
}

function withChildren(draft: Draft, children: Map<string, readonly string[]>): Draft {
  const sinks = new Set([...children].filter(([, kids]) => kids.length === 0).map(([n]) => n));
  const order = draft.order.filter((name) => sinks.has(name));
  for (const sink of sinks) if (!order.includes(sink)) order.push(sink);
  return { ...draft, children, order };
}

/** Add a category, below another or apart. */
export function addCategory(draft: Draft, name: string, under: string | null): Draft {
  if (!name.trim() || draft.children.has(name)) return draft;
  const children = new Map(draft.children);
  children.set(name, []);
  if (under !== null) children.set(under, [...(children.get(under) ?? []), name]);
  return withChildren(draft, children);
}

/** Let a category have another as a part; refused where that would close a circle. */
export function addEdge(draft: Draft, from: string, to: string): Draft {
  if (from === to || below(draft, to).has(from)) return draft;
  const kids = draft.children.get(from);
  if (!kids || !draft.children.has(to) || kids.includes(to)) return draft;
  return withChildren(draft, new Map(draft.children).set(from, [...kids, to]));
}

export function removeEdge(draft: Draft, from: string, to: string): Draft {
  const kids = draft.children.get(from) ?? [];
  if (!kids.includes(to)) return draft;
  const left = kids.filter((kid) => kid !== to);
  return withChildren(draft, new Map(draft.children).set(from, left));
}

export function removeCategory(draft: Draft, name: string): Draft {
  if (!draft.children.has(name)) return draft;
  const children = new Map<string, readonly string[]>();
  for (const [each, kids] of draft.children) {
    if (each !== name)
      children.set(
        each,
        kids.filter((kid) => kid !== name),
      );
  }
  const was = new Map(draft.was);
  was.delete(name);
  return withChildren({ ...draft, was }, children);
}

export function renameCategory(draft: Draft, name: string, to: string): Draft {
  if (!to.trim() || name === to || !draft.children.has(name) || draft.children.has(to))
    return draft;
  const renamed = (each: string): string => (each === name ? to : each);
  const children = new Map(
    [...draft.children].map(([each, kids]) => [renamed(each), kids.map(renamed)]),
  );
  const was = new Map([...draft.was].map(([now, then]) => [renamed(now), then]));
  return { ...draft, children, order: draft.order.map(renamed), was };
}

/** Split a sink into new sinks, or join categories under a new one. */
export function splitCategory(draft: Draft, name: string, into: readonly string[]): Draft {
  return into.reduce((now, part) => addCategory(now, part.trim(), name), draft);
}

export function joinCategories(draft: Draft, names: readonly string[], to: string): Draft {
  const added = addCategory(draft, to, null);
  return added === draft ? draft : names.reduce((now, part) => addEdge(now, to, part), added);
}

/** Move a sink in the order by some places. */
export function moveSink(draft: Draft, name: string, by: number): Draft {
  const from = draft.order.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= draft.order.length) return draft;
  const order = [...draft.order];
  order.splice(to, 0, ...order.splice(from, 1));
  return { ...draft, order };
}

export type Selection = {
  /** Sinks that no selected category reaches. */
  missing: string[];
  /** Sinks that several selected ones reach, with these. */
  doubled: Map<string, string[]>;
  isValid: boolean;
};

/** Judge what a form selects: every sink must be reached from exactly one category. */
export function judge(draft: Draft, selected: readonly string[]): Selection {
  const holders = new Map<string, string[]>(draft.order.map((sink) => [sink, []]));
  for (const name of selected) {
    for (const sink of sinksOf(draft, name)) holders.get(sink)?.push(name);
  }
  const missing = draft.order.filter((sink) => holders.get(sink)?.length === 0);
  const doubled = new Map([...holders].filter(([, names]) => names.length > 1));
  return { missing, doubled, isValid: missing.length === 0 && doubled.size === 0 };
}

/** Say where categories overlap, so that the children of one are not disjoint. */
export function overlapping(draft: Draft): string[] {
  const found: string[] = [];
  for (const [name, kids] of draft.children) {
    const seen = new Set<string>();
    for (const kid of kids) {
      const sinks = sinksOf(draft, kid);
      if (sinks.some((sink) => seen.has(sink))) {
        found.push(name);
        break;
      }
      for (const sink of sinks) seen.add(sink);
    }
  }
  return found;
}

export const definitionOf = (draft: Draft): Definition => ({
  scale: draft.scale,
  categories: Object.fromEntries([...draft.children].map(([name, kids]) => [name, [...kids]])),
  order: [...draft.order],
});
