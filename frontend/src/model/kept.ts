/** Drafts that survive a reload: kept in this browser tab, and nowhere else. */
import type { Draft } from "./graph";

const PREFIX = "gamekeeper draft ";

export function readDraft(key: string): Draft | null {
  try {
    const text = sessionStorage.getItem(PREFIX + key);
    if (!text) return null;
    const kept = JSON.parse(text) as {
      scale: Draft["scale"];
      children: [string, string[]][];
      order: string[];
      was: [string, string][];
    };
    return { ...kept, children: new Map(kept.children), was: new Map(kept.was) };
  } catch {
    return null;
  }
}

export function writeDraft(key: string, draft: Draft | null): void {
  try {
    if (draft === null) sessionStorage.removeItem(PREFIX + key);
    else {
      const plain = { ...draft, children: [...draft.children], was: [...draft.was] };
      sessionStorage.setItem(PREFIX + key, JSON.stringify(plain));
    }
  } catch {
    // A full or forbidden storage costs the draft its life beyond a reload, and nothing else.
  }
}
