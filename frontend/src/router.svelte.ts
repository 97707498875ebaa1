/** Addresses and pages: which page an address shows, and how one goes to another. */
import type { Component } from "svelte";

/** A page takes the id of its address, or nothing. */
type Loader = () => Promise<{ default: Component<never> }>;

/** Each page by its address; `:id` stands for one part of it. Pages are loaded when they are opened. */
const pages: Record<string, Loader> = {
  "/": () => import("./pages/Overview.svelte"),
  "/forms": () => import("./pages/Forms.svelte"),
  "/forms/:id": () => import("./pages/Form.svelte"),
  "/variables": () => import("./pages/Variables.svelte"),
  "/variables/:id": () => import("./pages/Variable.svelte"),
  "/groups": () => import("./pages/Groups.svelte"),
  "/groups/:id": () => import("./pages/Group.svelte"),
  "/analysis": () => import("./pages/Analysis.svelte"),
  "/scenarios": () => import("./pages/Scenarios.svelte"),
  "/scenarios/:id": () => import("./pages/Scenario.svelte"),
  "/history": () => import("./pages/History.svelte"),
  "/import": () => import("./pages/Import.svelte"),
  "/assess": () => import("./pages/Assess.svelte"),
  "/accounts": () => import("./pages/Accounts.svelte"),
};

export type Found = { pattern: string; id: string; load: Loader };

/** Find the page of a path. */
export function find(path: string, known: Record<string, Loader> = pages): Found | null {
  const [first = "", second = "", ...more] = path.replace(/^\/|\/$/g, "").split("/");
  if (more.length > 0) return null;
  const pattern = second ? `/${first}/:id` : `/${first}`;
  const load = known[pattern];
  return load ? { pattern, id: decodeURIComponent(second), load } : null;
}

class Place {
  path = $state(location.pathname);
  query = $state(new URLSearchParams(location.search));
  /** A page with something unsaved names what is lost; the router asks before it leaves. */
  guard: (() => boolean) | null = null;

  read(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const place = new Place();

/** Go to another address. */
export function go(address: string, options: { replace?: boolean } = {}): void {
  if (place.guard && !place.guard()) return;
  place.guard = null;
  history[options.replace ? "replaceState" : "pushState"](null, "", address);
  place.read();
}

/** Follow links within the pages without loading the document anew. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
