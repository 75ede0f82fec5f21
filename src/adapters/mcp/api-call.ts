/** How the tools reach the service: by its HTTP API, so that a key may do through them what it may do without them, and no more. */

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the root, with its parameters escaped: see `path`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** JSON. */
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
  /** The version that is meant, in quotes. */
  readonly ifMatch?: string | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  /** What the body says; null when it is empty. */
  readonly json: unknown;
}

/** Rejects when there is no answer. */
export type ApiCall = (request: ApiRequest) => Promise<ApiAnswer>;

/** A path of these parts, none of which leaves its place, whatever an agent writes into it. */
export const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

/** The path with its query. */
export function targetOf({ path: root, query = {} }: ApiRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? root : `${root}?${parameters.toString()}`;
}
