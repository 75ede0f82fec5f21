/**
 * Refuses what an operation does not list, at one place for every route of the API: query parameters, and single ones that are repeated,
 * headers that have a meaning in other operations, and the content of reads. `?dry_run=true` or `If-Match` that is ignored would let through what the caller wanted to prevent.
 * Bodies are closed by their schemas; a write without a body must still read it, so that its fields are refused.
 */
import { distance } from 'fastest-levenshtein';
import type { FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import { closeNameText, typeText } from '../core/error-words.ts';
import { invalidRequest, ServiceError } from '../core/errors.ts';
import { refuse, type NoteMistake } from '../core/mistakes.ts';
import { unknownName } from '../core/unknown-name.ts';
import { prefersAsync } from '../areas/send/prefer.ts';

/**
 * The rest are pages and files for people: their own scripts and mail programs add parameters, and the server of files knows all conditions.
 */
const OPERATION = /^\/(?:api(?!\/docs)|mcp)(?:\/|$)/;

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * RFC 9110 §13.1.1: the method must not be performed when If-Match does not hold. Of the others, a read may ignore each (§13.1.2, §14.2)
 * and still gives a true answer.
 */
const REFUSED_BY_READS = ['if-match'];

/**
 * Headers of a write that would otherwise be ignored, besides those that some operation declares. RFC 9110 §14.5: a part of a file would be
 * stored as the whole. RFC 9110 §13.1.4 lets a server without modification dates ignore If-Unmodified-Since: the write would not be
 * conditional. The digests are checked nowhere; Content-Digest is, where an operation lists it. The others ask for something else than the
 * request: that nothing happens, as the parameter `dry_run` does, or another method.
 */
const REFUSED_BY_WRITES = [
  'content-range',
  'if-unmodified-since',
  'content-digest',
  'content-md5',
  'digest',
  'repr-digest',
  'dry-run',
  'x-http-method',
  'x-http-method-override',
];

/** RFC 9110 §14.2: a server must ignore Range, and If-Range with it, for methods other than GET. */
const IGNORED_BY_WRITES: ReadonlySet<string> = new Set(['range', 'if-range']);

/** RFC 7240 §2: preferences that a server does not know are ignored. The one that the API knows is refused where it has no effect. */
const isIgnored = (header: string, value: string | readonly string[]): boolean =>
  header === 'prefer' && !prefersAsync(value);

interface ParameterSchema {
  readonly type?: unknown;
}

type CheckRequest = (request: FastifyRequest, note: NoteMistake) => void;

export class ClosedOperations {
  /** In lower case: those that some operation declares, and with them those that any write refuses. */
  readonly #declared = new Set<string>();
  readonly #headers = new Set(REFUSED_BY_WRITES);
  /** The check of each request that got so far; kept as long as the request. */
  readonly #checks = new WeakMap<FastifyRequest, CheckRequest>();

  /** Notes all mistakes in what the operation of the request does not list. False for a request that was refused before, without its secret. */
  noteMistakes(request: FastifyRequest, note: NoteMistake): boolean {
    const check = this.#checks.get(request);
    check?.(request, note);
    return check !== undefined;
  }

  /** Fastify's `onRoute` hook; it has to see all routes before the first request. */
  close(route: RouteOptions): void {
    if (!OPERATION.test(route.url)) return;
    const methods = [route.method].flat();
    const isRead = methods.every((method) => READS.has(method));
    const { body, querystring, headers } = route.schema ?? {};
    if (!isRead && body === undefined && route.preValidation === undefined) {
      throw new TypeError(`${methods.join(', ')} ${route.url} ignores the body of its requests`);
    }
    const parameters = propertiesOf(querystring);
    const ownHeaders = new Set(Object.keys(propertiesOf(headers)).map((name) => name.toLowerCase()));
    for (const name of ownHeaders) {
      this.#declared.add(name);
      this.#headers.add(name);
    }

    let refused: readonly string[] | null = null;
    const check: CheckRequest = (request, note) => {
      refused ??= this.#refusedHeaders(isRead, ownHeaders);
      noteParameters(request, parameters, note);
      noteUnknownHeaders(request, refused, note);
      if (!isRead) noteCloseHeaders(request, this.#headers, this.#declared, note);
    };
    const close: onRequestHookHandler = (request, _reply, done) => {
      this.#checks.set(request, check);
      try {
        check(request, refuse);
      } catch (error) {
        done(error as Error);
        return;
      }
      done(isRead && hasContent(request) ? invalidRequest('content_of_read') : undefined);
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), close];
  }

  #refusedHeaders(isRead: boolean, own: ReadonlySet<string>): readonly string[] {
    const names = isRead
      ? REFUSED_BY_READS
      : [...this.#headers].filter((name) => !IGNORED_BY_WRITES.has(name));
    return names.filter((name) => !own.has(name));
  }
}

function noteParameters(
  { query, raw }: FastifyRequest,
  known: Readonly<Record<string, ParameterSchema>>,
  note: NoteMistake,
): void {
  const unreadable = findBadEncoding(raw.url ?? '');
  if (unreadable !== null) note(invalidRequest('bad_parameter', { field: unreadable }));
  for (const [name, value] of Object.entries(query as object)) {
    if (!Object.hasOwn(known, name)) note(unknownName('unknown_parameter', name, Object.keys(known)));
    else if (Array.isArray(value) && known[name]?.type !== 'array')
      note(invalidRequest('repeated', { field: name }));
    else if ([known[name]?.type].flat().includes('integer') && !INTEGER.test(String(value)))
      note(invalidRequest('wrong_type', { field: name, type: typeText('integer') }));
  }
  noteEmptyTimes(query as Readonly<Record<string, unknown>>, note);
}

/** The validation would convert `0x10`, `1e1`, `+5` and ` 5` too, which other readers of the same URL take for something else. */
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** The first parameter whose name or value is no percent-encoded UTF-8; Fastify takes it literally. null: there is none. */
function findBadEncoding(url: string): string | null {
  const at = url.indexOf('?');
  if (at === -1 || !url.includes('%', at)) return null;
  for (const pair of url.slice(at + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      return pair.split('=', 1)[0] ?? '';
    }
  }
  return null;
}

/** A time that ends before it begins has nothing in it: an empty list would be taken for an answer. */
function noteEmptyTimes(query: Readonly<Record<string, unknown>>, note: NoteMistake): void {
  for (const until of Object.keys(query).filter((name) => name.endsWith('until'))) {
    const since = until.replace(/until$/, 'since');
    // Of anything but moments the schemas judge: NaN is not before anything.
    if (Date.parse(String(query[until])) <= Date.parse(String(query[since])))
      note(invalidRequest('not_after', { field: until, other: since }));
  }
}

function noteUnknownHeaders(
  { headers }: FastifyRequest,
  refused: readonly string[],
  note: NoteMistake,
): void {
  for (const name of refused) {
    const value = headers[name];
    if (value !== undefined && !isIgnored(name, value))
      note(new ServiceError('unknown_header', { values: { field: name, hint: '' } }));
  }
}

/** `X-Idempotency-Key` and `Idempotency_Key` are headers of other services, and would be ignored. */
function noteCloseHeaders(
  { headers }: FastifyRequest,
  known: ReadonlySet<string>,
  declared: ReadonlySet<string>,
  note: NoteMistake,
): void {
  for (const name of Object.keys(headers)) {
    if (known.has(name)) continue;
    const close = closeHeader(name, known);
    if (close === null) continue;
    // One that nothing takes is no advice.
    const hint = declared.has(close) ? closeNameText(close) : '';
    note(new ServiceError('unknown_header', { values: { field: name, hint } }));
  }
}

/** Longer names are close to none, and the cost grows with the length. */
const MAX_HEADER_CHARS = 32;
const bareHeader = (name: string): string => name.replace(/^x[-_]/, '').replace(/[^a-z0-9]/g, '');

function closeHeader(name: string, known: ReadonlySet<string>): string | null {
  if (name.length > MAX_HEADER_CHARS) return null;
  const wanted = bareHeader(name);
  for (const other of known) {
    const bare = bareHeader(other);
    if (distance(wanted, bare) <= Math.floor(bare.length / 6)) return other;
  }
  return null;
}

const hasContent = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const propertiesOf = (schema: unknown): Readonly<Record<string, ParameterSchema>> =>
  (schema as { properties?: Readonly<Record<string, ParameterSchema>> } | undefined)?.properties ?? {};
