/**
 * Requests made from an OpenAPI document, valid and damaged, and the laws that every answer must keep: only documented statuses and codes,
 * `error` and `code` in every error, every success as its schema requires, and no failure of the service itself.
 */
import * as fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/core/error-registry.ts';
import { MAX_PROBLEMS } from '../../src/core/mistakes.ts';
import { codesOfIntroduction } from '../../src/api/document/error-answers.ts';
import { arbitraryDamage, arbitraryOf, type JsonSchema } from './arbitrary/json-schema.ts';

export interface FuzzRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface FuzzResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The target of the fuzz test: a running service, or an application into which requests are injected. */
export interface FuzzTarget {
  send(request: FuzzRequest): Promise<FuzzResponse>;
  readonly authorization: string;
  /** Existing values, by the name of the parameter or field: without them nearly every answer is a 404. */
  readonly samples: Readonly<Record<string, readonly string[]>>;
  /** Paths of operations for which no sample is in the right state. */
  readonly unreachable: readonly string[];
  /** Codes with status 5xx that are allowed, such as `send_failed` when the mail server refuses odd recipients. */
  readonly expectedFailures: readonly ErrorCode[];
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

export interface FuzzOperation {
  readonly method: string;
  /** Path with `{name}` parameters. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | null;
  /** Media type of a body that is not JSON; null for JSON or no body. */
  readonly rawType: string | null;
  /** By status: content type → schema and the codes of errors. */
  readonly responses: ReadonlyMap<string, ResponseRule>;
}

interface ResponseRule {
  readonly contentTypes: readonly string[];
  readonly codes: readonly string[];
  /** null if the type is not JSON. */
  readonly check: ((value: unknown) => boolean) | null;
}

/** Errors that any request may get; the introduction of the document lists them. */
const GENERAL_CODES: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_text',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
  'unknown_host',
  'headers_too_large',
];

// ---------------------------------------------------------------- the document

type Node = Readonly<Record<string, unknown>>;

/** The operations of an OpenAPI 3.1 document. */
export function readOperations(document: Node): readonly FuzzOperation[] {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const reference = (value as Node)['$ref'];
    if (typeof reference === 'string') {
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((node, key) => (node as Node)[key], document);
      return resolve(target);
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  const paths = resolve(document['paths']) as Readonly<Record<string, Readonly<Record<string, Node>>>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (operation['parameters'] ?? []) as readonly Parameter[],
      body: toBodySchema(operation['requestBody']),
      rawType: toRawType(operation['requestBody']),
      responses: new Map(
        Object.entries(operation['responses'] as Readonly<Record<string, Node>>).map(([status, response]) => [
          status,
          toRule(response, codesOf(method, operation)),
        ]),
      ),
    })),
  );
}

type Content = Readonly<
  Record<string, { readonly schema?: object; readonly examples?: Readonly<Record<string, unknown>> }>
>;

function contentOf(requestBody: unknown): Content {
  return (requestBody as { readonly content?: Content } | undefined)?.content ?? {};
}

function toBodySchema(requestBody: unknown): JsonSchema | null {
  return contentOf(requestBody)['application/json']?.schema ?? null;
}

function toRawType(requestBody: unknown): string | null {
  return Object.keys(contentOf(requestBody)).find((type) => type !== 'application/json') ?? null;
}

/** Those that it lists, and those that the introduction does. */
function codesOf(
  method: string,
  { 'x-error-codes': own = {}, security, requestBody }: Node,
): readonly string[] {
  const takesJson = method !== 'get' && toRawType(requestBody) === null;
  return [
    ...Object.values(own as Readonly<Record<string, readonly string[]>>).flat(),
    ...codesOfIntroduction({ security: security as readonly object[] }, takesJson),
  ];
}

function toRule(response: Node, listed: readonly string[]): ResponseRule {
  const content = (response['content'] ?? {}) as Content;
  const json = content['application/json'];
  const validator = json?.schema === undefined ? null : Compile(json.schema);
  return {
    contentTypes: Object.keys(content),
    codes: [
      ...listed,
      // Of an answer that is described by itself.
      ...[...String(response['description']).matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''),
    ],
    check: validator === null ? null : (value) => validator.Check(value),
  };
}

// ---------------------------------------------------------------- requests

/** Requests to one operation; about half of them are valid. */
export function arbitraryRequest(operation: FuzzOperation, target: FuzzTarget): fc.Arbitrary<FuzzRequest> {
  const values = (place: Parameter['in']) =>
    fc.record(
      Object.fromEntries(
        operation.parameters
          .filter((parameter) => parameter.in === place)
          .map((parameter) => [parameter.name, parameterValue(parameter, target)]),
      ),
      place === 'path' ? {} : { requiredKeys: [] },
    );
  return fc
    .record({
      method: mostly(
        fc.constant(operation.method),
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'),
      ),
      path: values('path'),
      query: mostly(values('query'), fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 })),
      headers: values('header'),
      authorization: mostly(
        fc.constant(target.authorization),
        fc.oneof(visibleText, fc.constantFrom('', 'Bearer', 'Basic eDp4', `${target.authorization}x`)),
      ),
      contentType: mostly(
        fc.constant(operation.rawType ?? 'application/json'),
        fc.oneof(visibleText, fc.constantFrom('text/plain', 'application/json; charset=utf-16')),
      ),
      body: bodyOf(operation, target),
    })
    .map(({ method, path, query, headers, authorization, contentType, body }) => {
      const search = new URLSearchParams(query as Record<string, string>).toString();
      const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
      const hasBody = body !== null && method !== 'GET' && method !== 'HEAD';
      return {
        method,
        url: search === '' ? filled : `${filled}?${search}`,
        headers: {
          ...(headers as Record<string, string>),
          authorization,
          ...(hasBody ? { 'content-type': contentType } : {}),
        },
        body: hasBody ? body : null,
      };
    });
}

function bodyOf({ body, rawType }: FuzzOperation, target: FuzzTarget): fc.Arbitrary<string | null> {
  if (body !== null) return bodyText(body, target);
  return rawType === null ? fc.constant(null) : messageText;
}

/** Text that resembles an email. */
const messageText = fc
  .record({
    fields: fc.array(
      fc.tuple(
        fc.constantFrom('From', 'To', 'Subject', 'Message-ID', 'References', 'Date', 'Content-Type', 'X'),
        fc.oneof(
          fc.string(),
          fc.constantFrom('a@example.org', '<a@example.org>', 'multipart/mixed; boundary=b'),
        ),
      ),
    ),
    body: fc.string({ unit: 'binary' }),
  })
  .map(({ fields, body }) => `${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);

/** Header values that an HTTP library lets through. */
const visibleText = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
});

function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function parameterValue(parameter: Parameter, target: FuzzTarget): fc.Arbitrary<string> {
  const valid = fc.oneof(
    ...(target.samples[parameter.name] ?? []).map((sample) => fc.constant(sample)),
    arbitraryOf(parameter.schema).map(String),
  );
  if (parameter.in === 'header') {
    const ranges = fc.constantFrom(
      'bytes=0-1',
      'bytes=-5',
      'bytes=5-',
      'bytes=99999-',
      'bytes=-0',
      'bytes=2-1',
      '*',
    );
    return fc.oneof(ranges, visibleText);
  }
  if (parameter.in === 'query')
    return mostly(valid, fc.oneof(fc.string({ unit: 'binary' }), fc.constant('')));
  // A path is sent as it is, so that broken encoding gets through too.
  const odd = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }).map((text) => encodeURIComponent(text.toWellFormed())),
    // No dot segments: they make it another path (RFC 3986 §5.2.4).
    fc.constantFrom('%zz', '%', '%00', 'x'.repeat(3000), 'null', '%F0%9F'),
  );
  return mostly(valid.map(encodeURIComponent), odd);
}

function bodyText(schema: JsonSchema, target: FuzzTarget): fc.Arbitrary<string> {
  const valid = arbitraryOf(schema, target.samples);
  return fc.oneof(
    valid.map((value) => JSON.stringify(value)),
    arbitraryDamage(valid),
  );
}

// ---------------------------------------------------------------- laws

/** Throws when the answer breaks a law. */
export function expectLawful(
  operation: FuzzOperation,
  target: FuzzTarget,
  request: FuzzRequest,
  response: FuzzResponse,
): void {
  expect(response.headers['x-content-type-options']).toBe('nosniff');
  // Another method is another operation, or none: its errors must still be well-formed.
  const ruleOf = () =>
    operation.responses.get(String(response.status)) ??
    (response.status >= 400 ? operation.responses.get('default') : undefined);
  const rule = request.method === operation.method ? ruleOf() : undefined;
  if (request.method === 'HEAD') {
    expect(response.body).toBe('');
  } else if (response.status >= 400) {
    expectLawfulError(response, rule, target);
  } else if (request.method === operation.method) {
    expectLawfulSuccess(response, rule);
  }
}

function expectLawfulError(response: FuzzResponse, rule: ResponseRule | undefined, target: FuzzTarget): void {
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const {
    error,
    message,
    code,
    doc,
    request_id: requestId,
    problems,
    ...more
  } = JSON.parse(response.body) as Record<string, unknown>;
  expect([error, message]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
  expect([doc, requestId]).toEqual([`/api/docs/errors#${String(code)}`, response.headers['x-request-id']]);
  expect(Object.keys(ERRORS)).toContain(code);
  expect(ERRORS[code as ErrorCode].status).toBe(response.status);
  expect([...(rule?.codes ?? [code as string]), ...GENERAL_CODES]).toContain(code);
  if (problems !== undefined) expectLawfulProblems(problems, [more['field'], code, error, message]);
  // A failed send names the email.
  const known = new Set(['field', 'details', 'status', 'checks']);
  if (SEND_FAILURES.has(code as string)) known.add('id');
  if (code === 'thread_has_moved_on') known.add('new_emails');
  expect(Object.keys(more).filter((name) => !known.has(name))).toEqual([]);
  const failures = [...target.expectedFailures, ...Object.keys(ERRORS).filter((one) => !isFailure(one))];
  expect(failures).toContain(code);
}

/** @param first field, code and texts of the answer */
function expectLawfulProblems(problems: unknown, first: readonly unknown[]): void {
  const list = problems as readonly Record<string, unknown>[];
  const [shown] = list.map(({ field, code, error, message }) => [field, code, error, message]);
  expect(shown).toEqual(first);
  expect(list.length).toBeGreaterThan(1);
  expect(list.length).toBeLessThanOrEqual(MAX_PROBLEMS);
  for (const { field, code, error, message, ...more } of list) {
    expect(Object.keys(ERRORS)).toContain(code);
    // A name may be empty, or nothing but dots.
    expect([typeof field, more]).toEqual(['string', {}]);
    expect([error, message]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
  }
}

const SEND_FAILURES: ReadonlySet<string> = new Set([
  'send_deferred',
  'send_failed',
  'send_unknown',
] satisfies ErrorCode[]);

function isFailure(code: string): boolean {
  return ERRORS[code as ErrorCode].status >= 500;
}

function expectLawfulSuccess(response: FuzzResponse, rule: ResponseRule | undefined): void {
  expect(rule).toBeDefined();
  if (rule === undefined || rule.check === null) return;
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const value: unknown = JSON.parse(response.body);
  expect({ value, valid: rule.check(value) }).toEqual({ value, valid: true });
}
