/** What all pages share: who is signed in, the newest revision, what was said last. */
import { ask, Refused, type Refusal, type Schemas } from "./client/client";
import { words } from "./words";

class Live {
  session = $state<Schemas["SessionShape"] | null>(null);
  /** The newest revision that was told of; pages read anew when it grows. */
  revision = $state(0);
  /** Raised with every message of a job. */
  job = $state<Record<string, unknown> | null>(null);
  connected = $state(true);
  /** Whether another program put another store in the place of the one that was shown. */
  replaced = $state(false);
  said = $state("");

  get mayEdit(): boolean {
    return this.session?.role === "editor" || this.session?.role === "administrator";
  }

  /** Say something in a line that is seen and read aloud. */
  say(text: string): void {
    this.said = "";
    queueMicrotask(() => (this.said = text));
  }

  async begin(): Promise<void> {
    this.session = await ask("get", "/api/session");
    if (this.session.who !== null) this.listen();
  }

  listen(): void {
    const source = new EventSource("/api/events");
    source.addEventListener("open", () => (this.connected = true));
    source.addEventListener("error", () => (this.connected = false));
    source.addEventListener("revision", (event) => {
      const told = JSON.parse((event as MessageEvent<string>).data) as { revision: number };
      if (told.revision > this.revision) this.revision = told.revision;
    });
    source.addEventListener("replaced", (event) => {
      // Numbers of revisions begin anew; what is on the page is of a store that is gone.
      const told = JSON.parse((event as MessageEvent<string>).data) as { revision: number };
      this.revision = told.revision;
      this.replaced = true;
    });
    source.addEventListener("job", (event) => {
      this.job = JSON.parse((event as MessageEvent<string>).data) as Record<string, unknown>;
    });
  }
}

export const live = new Live();

/** Return any failure as a refusal that a page can show. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) {
    if (error.status === 401 && live.session) live.session = { ...live.session, who: null };
    if (error.status === 0) return { ...error.refusal, message: words.failed };
    return error.refusal;
  }
  return { code: "our-fault", message: words.broken, problems: [], hint: "", changes: [] };
}

/** A key for one save: sent again, it is not saved twice. */
export function saveKey(): string {
  return crypto.randomUUID();
}
