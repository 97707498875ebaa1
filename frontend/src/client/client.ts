import type { components, paths } from "./schema";

/** The records of the server, by their names. */
export type Schemas = components["schemas"];
export type Refusal = Schemas["Refusal"];

type Method = "get" | "post" | "delete";
type Has<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, infer O> ? (O extends object ? P : never) : never;
}[keyof paths];
type Operation<P extends keyof paths, M extends Method> = M extends keyof paths[P]
  ? paths[P][M]
  : never;
type Json<T> = T extends { content: { "application/json": infer B } } ? B : void;
type Answer<O> = O extends { responses: infer R }
  ? R extends { 200: infer B }
    ? Json<B>
    : R extends { 201: infer B }
      ? Json<B>
      : R extends { 202: infer B }
        ? Json<B>
        : void
  : never;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? B
  : undefined;
type Query<O> = O extends { parameters: { query?: infer Q } } ? Q : undefined;
type Path<O> = O extends { parameters: { path: infer Q } } ? Q : undefined;

export type Options<O> = {
  path?: Path<O>;
  query?: Query<O>;
  body?: Body<O>;
  signal?: AbortSignal;
};

/** What the server refused, and why; `status` is 0 where it could not be reached. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly refusal: Refusal,
  ) {
    super(refusal.message);
  }
}

const unreachable: Refusal = {
  code: "unreachable",
  message: "",
  problems: [],
  hint: "",
  changes: [],
};

/** Ask the server; what it answers has the type that its document says. */
export async function ask<M extends Method, P extends Has<M>>(
  method: M,
  address: P,
  options: Options<Operation<P, M>> = {},
): Promise<Answer<Operation<P, M>>> {
  let url = String(address);
  for (const [name, value] of Object.entries((options.path ?? {}) as Record<string, string>)) {
    url = url.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((options.query ?? {}) as Record<string, unknown>)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) query.append(name, String(each));
    }
  }
  if (query.size > 0) url += `?${query}`;
  const request: RequestInit = { method: method.toUpperCase(), credentials: "same-origin" };
  if (options.body !== undefined) {
    request.body = JSON.stringify(options.body);
    request.headers = { "Content-Type": "application/json" };
  }
  if (options.signal) request.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(url, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, unreachable);
  }
  if (!response.ok) {
    const told = (await response.json().catch(() => unreachable)) as Refusal;
    throw new Refused(response.status, told);
  }
  if (response.status === 204) return undefined as Answer<Operation<P, M>>;
  return (await response.json()) as Answer<Operation<P, M>>;
}

/** Have a file made by the server, and hand it to the person under the name that it has there. */
export async function download(address: string, body?: unknown): Promise<void> {
  const request: RequestInit = { credentials: "same-origin" };
  if (body !== undefined) {
    request.method = "POST";
    request.body = JSON.stringify(body);
    request.headers = { "Content-Type": "application/json" };
  }
  let response: Response;
  try {
    response = await fetch(address, request);
  } catch {
    throw new Refused(0, unreachable);
  }
  if (!response.ok) {
    const told = (await response.json().catch(() => unreachable)) as Refusal;
    throw new Refused(response.status, told);
  }
  const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
  const made = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = made;
  link.download = named?.[1] ?? "download";
  link.click();
  URL.revokeObjectURL(made);
}

/** Send a file as it is, and return what the server made of it. */
export async function send<T>(
  address: string,
  query: Record<string, string>,
  file: Blob,
): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${address}?${new URLSearchParams(query)}`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    });
  } catch {
    throw new Refused(0, unreachable);
  }
  if (!response.ok) {
    const told = (await response.json().catch(() => unreachable)) as Refusal;
    throw new Refused(response.status, told);
  }
  return (await response.json()) as T;
}
