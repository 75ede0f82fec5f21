/** The tools reach the service through its HTTP API, so that a key may do no more through them than without them. */

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the root, with escaped parameters: see `path`. */
  readonly path: string;
  /** A list becomes a repeated parameter. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
  /** The version that the request applies to, in quotes. */
  readonly ifMatch?: string | undefined;
  /** The bytes of a file that are wanted, as in the header field Range. */
  readonly range?: string | undefined;
}

/** An answer as received. */
export interface RawAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly contentRange: string | null;
  /** The header field Idempotency-Replayed; null when absent. */
  readonly replayed: string | null;
  readonly body: Uint8Array;
}

export interface ApiFile {
  readonly contentType: string;
  /** Size of the whole file. */
  readonly sizeBytes: number;
  /** The bytes of the requested range. */
  readonly bytes: Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  /** The value of the body; null when it is empty, and for a file. */
  readonly json: unknown;
  /** True if an earlier request with the same idempotency key had this answer, and this one did nothing. */
  readonly isReplay: boolean;
  /** null unless a range was requested and exists. */
  readonly file: ApiFile | null;
}

/** Rejects when there is no answer. */
export type ApiCall = (request: ApiRequest) => Promise<ApiAnswer>;

/** A path of these parts; whatever an agent writes into a part, it can't become another path segment. */
export const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

/** A file may be JSON, too, but a range of it is not. */
export function readAnswer(
  { range }: ApiRequest,
  { status, contentType, contentRange, replayed, body }: RawAnswer,
): ApiAnswer {
  const isReplay = replayed === 'true';
  if (range === undefined || status < 200 || status > 299) {
    const text = new TextDecoder().decode(body);
    return { status, json: text === '' ? null : JSON.parse(text), isReplay, file: null };
  }
  const sizeBytes = Number(contentRange?.split('/')[1] ?? body.length);
  return { status, json: null, isReplay, file: { contentType: contentType ?? '', sizeBytes, bytes: body } };
}

/** The path with its query. */
export function targetOf({ path: root, query = {} }: ApiRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? root : `${root}?${parameters.toString()}`;
}
