/** How the tools reach the service: by its HTTP API, so that a key may do through them what it may do without them, and no more. */

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the root, with its parameters escaped: see `path`. */
  readonly path: string;
  /** A list is a parameter that is repeated. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** JSON. */
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
  /** The version that is meant, in quotes. */
  readonly ifMatch?: string | undefined;
  /** Bytes of a file, as in the header field Range. */
  readonly range?: string | undefined;
}

/** As it came. */
export interface RawAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly contentRange: string | null;
  readonly body: Uint8Array;
}

export interface ApiFile {
  readonly contentType: string;
  /** Of the whole file. */
  readonly sizeBytes: number;
  /** The range that was asked for. */
  readonly bytes: Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  /** What the body says; null when it is empty, and for a file. */
  readonly json: unknown;
  /** null unless a range was asked for, and is there. */
  readonly file: ApiFile | null;
}

/** Rejects when there is no answer. */
export type ApiCall = (request: ApiRequest) => Promise<ApiAnswer>;

/** A path of these parts, none of which leaves its place, whatever an agent writes into it. */
export const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

/** A file may be JSON too, of which a range is no JSON. */
export function readAnswer(
  { range }: ApiRequest,
  { status, contentType, contentRange, body }: RawAnswer,
): ApiAnswer {
  if (range === undefined || status < 200 || status > 299) {
    const text = new TextDecoder().decode(body);
    return { status, json: text === '' ? null : JSON.parse(text), file: null };
  }
  const sizeBytes = Number(contentRange?.split('/')[1] ?? body.length);
  return { status, json: null, file: { contentType: contentType ?? '', sizeBytes, bytes: body } };
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
