/**
 * Each operation of the document refuses what it does not list: query parameters, headers, fields at every depth of its body, and
 * parameters given twice. Nothing is sent and no row changes.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { startServiceWithSink, sendJson } from '../helpers/running-service.ts';

type Node = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly schema: Node;
}

interface Media {
  readonly schema?: Node;
  readonly example?: unknown;
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly mediaType: string | null;
  readonly media: Media;
}

const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as Node;

function resolve(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== 'object' || value === null) return value;
  const reference = (value as Node)['$ref'];
  if (typeof reference !== 'string') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }
  const steps = reference.slice(2).split('/');
  return resolve(steps.reduce<unknown>((node, key) => (node as Node)[key], document));
}

const OPERATIONS: readonly Operation[] = Object.entries(
  document['paths'] as Readonly<Record<string, Readonly<Record<string, Node>>>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const {
      operationId,
      parameters = [],
      requestBody,
    } = resolve(operation) as {
      operationId: string;
      parameters?: readonly Parameter[];
      requestBody?: { content: Readonly<Record<string, Media>> };
    };
    const [mediaType = null, media = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    return { id: operationId, method: method.toUpperCase(), path, parameters, mediaType, media };
  }),
);

const isRead = ({ method }: Operation) => method === 'GET';
const isListed = ({ parameters }: Operation, header: string) =>
  parameters.some(({ in: place, name }) => place === 'header' && name.toLowerCase() === header);

/** Of all operations, and those that have a meaning for writes in HTTP itself. */
const CONDITIONS: Readonly<Record<string, string>> = {
  'if-match': '"1"',
  'if-none-match': '*',
  'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT',
  'idempotency-key': 'order-1',
  prefer: 'respond-async',
  'content-range': 'bytes 0-1/2',
  'last-event-id': randomUUID(),
  'content-digest': 'md5=:YWJj:',
  digest: 'md5=YWJj',
  'repr-digest': 'md5=:YWJj:',
  'content-md5': 'YWJj',
  'x-idempotency-key': 'order-1',
  idempotency_key: 'order-1',
  'idempotence-key': 'order-1',
  'x-if-match': '"1"',
  if_match: '"1"',
  'x-prefer': 'respond-async',
  'x-dry-run': 'true',
  dry_run: 'true',
  'x-http-method-override': 'DELETE',
};

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
/** Existing values, by the name of the parameter. */
let samples: Readonly<Record<string, string>>;
beforeAll(async () => {
  running = await startServiceWithSink();
  const sent = await sendJson(running.service, {
    to: 'ann@customer.test',
    subject: 'Offer',
    text_body: 'Hello',
    customer_id: randomUUID(),
  });
  const received = await receive(running.service, mail({ subject: 'Hi', from: 'bob@customer.test' }));
  samples = { id: received.id, threadId: sent.threadId, address: 'bob@customer.test' };
  await backgroundWorkIsDone(running.database.connectionString);
});
afterAll(() => running.end());

async function call(
  operation: Operation,
  change: { query?: string; headers?: Readonly<Record<string, string>>; body?: unknown },
): Promise<readonly [status: number, code: unknown, error: string]> {
  const { method, path, mediaType } = operation;
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(samples[name] ?? randomUUID()),
  );
  const body = change.body ?? exampleBody(operation);
  const headers = {
    ...(mediaType === null && body === undefined
      ? {}
      : { 'content-type': mediaType === null || mediaType === '*/*' ? 'application/json' : mediaType }),
    ...change.headers,
  };
  const response = await running.service.request(`${target}${change.query ?? ''}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const answer = (isJson ? JSON.parse(text) : {}) as { code?: unknown; error?: string; results?: Node[] };
  return [response.status, answer.code ?? answer.results?.[0]?.['code'], answer.error ?? ''];
}

function exampleBody({ id, mediaType, media }: Operation): unknown {
  if (mediaType === null) return undefined;
  if (mediaType !== 'application/json') return 'From: a@customer.test\r\nSubject: x\r\n\r\nx\r\n';
  if (id !== 'sendBatch') return media.example;
  // Its emails are judged one by one: a valid one beside the widened one would be sent.
  const { emails } = media.example as { emails: readonly unknown[] };
  return { emails: emails.slice(0, 1) };
}

/** Runs `work`, after which every table is as it was, and no further email was sent. */
async function changesNothing(work: () => Promise<void>): Promise<void> {
  const { connectionString } = running.database;
  const before = await readEverything(connectionString);
  const { length } = running.sink.messages;
  await work();
  expect(await readEverything(connectionString)).toEqual(before);
  expect(running.sink.messages).toHaveLength(length);
}

describe('every operation', () => {
  it('refuses a query parameter that it does not list, by name, and changes nothing', async () => {
    await changesNothing(async () => {
      for (const operation of OPERATIONS) {
        const [status, code, error] = await call(operation, { query: '?dry_runn=true' });
        expect([operation.id, status, code]).toEqual([operation.id, 400, 'unknown_parameter']);
        expect(error).toContain('dry_runn');
      }
    });
  });

  it('refuses a parameter that is given twice, unless it is a list', async () => {
    for (const operation of OPERATIONS) {
      for (const { in: place, name, schema } of operation.parameters) {
        if (place !== 'query' || schema['type'] === 'array') continue;
        const [status, code, error] = await call(operation, { query: `?${name}=1&${name}=2` });
        expect([operation.id, name, status, code]).toEqual([operation.id, name, 400, 'invalid_request']);
        expect(error).toContain('mehrfach');
      }
    }
  });

  it('refuses a header that has a meaning in other operations: If-Match always, the others when it writes', async () => {
    await changesNothing(async () => {
      for (const operation of OPERATIONS) {
        for (const [header, value] of Object.entries(CONDITIONS)) {
          if (isListed(operation, header) || (isRead(operation) && header !== 'if-match')) continue;
          const [status, code, error] = await call(operation, { headers: { [header]: value } });
          expect([operation.id, header, status, code]).toEqual([operation.id, header, 400, 'unknown_header']);
          expect(error).toContain(header);
          // The advice is a header that an operation takes.
          const advised = /Vielleicht ist ([\w-]+) gemeint/.exec(error ?? '')?.[1] ?? 'if-match';
          expect(OPERATIONS.some((one) => isListed(one, advised))).toBe(true);
        }
      }
    });
  });

  it('refuses a parameter that is no percent-encoded text, by its name, instead of looking for the signs', async () => {
    for (const operation of OPERATIONS) {
      for (const { in: place, name, schema } of operation.parameters) {
        if (place !== 'query') continue;
        const isInteger = [schema['type']].flat().includes('integer');
        const numbers = isInteger ? ['0x10', '1e1', '%2B5', '%205', '5%20', '05', '5.0', '1_0', '٥', ''] : [];
        for (const value of ['%FF', '%zz', 'a%', '%ED%A0%80', ...numbers]) {
          const [status, code, error] = await call(operation, { query: `?${name}=${value}` });
          expect([operation.id, name, value, status, code]).toEqual([
            operation.id,
            name,
            value,
            400,
            'invalid_request',
          ]);
          expect(error).toContain(name);
        }
      }
    }
  });

  it('takes what browsers, proxies and libraries add to a request', async () => {
    const headers = {
      accept: '*/*',
      'accept-language': 'de',
      'cache-control': 'no-cache',
      'content-language': 'de',
      'content-location': '/x',
      'content-id': '<a@b.test>',
      date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      from: 'ops@example.com',
      origin: running.service.url,
      pragma: 'no-cache',
      priority: 'u=1',
      referer: `${running.service.url}/`,
      'sec-fetch-site': 'same-origin',
      te: 'trailers',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
      baggage: 'a=b',
      via: '1.1 proxy',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-proto': 'https',
      'x-real-ip': '192.0.2.1',
      'x-request-id': randomUUID(),
      'x-amzn-trace-id': 'Root=1-5e1b4151-5ac6c58f5b5f8d2d1d9c1b1a',
      'x-correlation-id': randomUUID(),
      'user-agent': 'test',
    };
    for (const operation of OPERATIONS)
      expect([operation.id, (await call(operation, { headers, query: '?probe=1' }))[1]]).toEqual([
        operation.id,
        'unknown_parameter',
      ]);
  });

  it('refuses fields that it does not list, at every depth of its body, and a body when it takes none', async () => {
    await changesNothing(async () => {
      for (const operation of OPERATIONS) {
        if (isRead(operation)) continue;
        if (operation.mediaType !== null && operation.mediaType !== 'application/json') continue;
        const example = exampleBody(operation) ?? {};
        for (const body of widened(example, operation.media.schema ?? {})) {
          const headers = isListed(operation, 'if-match') ? { 'if-match': '"1"' } : {};
          const answer = await call(operation, { body, headers });
          expect([operation.id, body, answer[1]]).toEqual([operation.id, body, 'unknown_field']);
        }
      }
    });
  });
});

/** The value, once with a further field in each of its objects that the schema closes. */
function* widened(value: unknown, schema: Node): Generator<unknown> {
  const forms = [schema, ...((schema['anyOf'] ?? []) as readonly Node[])];
  if (Array.isArray(value)) {
    const items = forms.find((form) => form['items'] !== undefined)?.['items'] as Node | undefined;
    if (items === undefined) return;
    for (const [index, item] of value.entries())
      for (const wide of widened(item, items)) yield value.with(index, wide);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const open = forms.some(({ additionalProperties: more }) => more !== undefined && more !== false);
  if (open) return;
  yield { ...value, probe: true };
  const properties = Object.assign({}, ...forms.map((form) => form['properties'] ?? {})) as Readonly<
    Record<string, Node>
  >;
  for (const [name, inner] of Object.entries(value))
    for (const wide of widened(inner, properties[name] ?? {})) yield { ...value, [name]: wide };
}
