/** The content of the examples in docs/openapi.json. openapi.test.ts checks that each fits its schema. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { ERRORS } from '../../core/error-registry.ts';

type Json = Readonly<Record<string, unknown>>;

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly maximum?: number;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: Json }>>;
}

interface Answer {
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-rights'?: readonly string[];
  readonly 'x-any-right'?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: Answer;
  readonly responses: Readonly<Record<string, Answer>>;
}

interface DocumentedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

let app: TestHttpApp;
let components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
let operations: readonly DocumentedOperation[];

beforeAll(async () => {
  app = await createTestHttpApp({ application: createRecordingApplication() });
  const file = new URL('../../../docs/openapi.json', import.meta.url);
  const document = JSON.parse(await readFile(file, 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
    components: typeof components;
  };
  components = document.components;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
});
afterAll(() => app.close());

/** The target of a reference, or the value itself. */
function resolve<T extends object>(value: T): T {
  const { $ref } = value as { $ref?: string };
  const [, , kind = '', name = ''] = $ref?.split('/') ?? [];
  return $ref === undefined ? value : (components[kind]?.[name] as T);
}

const answersOf = ({ responses }: Operation) =>
  Object.entries(responses).map(([status, answer]) => ({ status, ...resolve(answer) }));

const successesOf = (operation: Operation): readonly Media[] =>
  answersOf(operation)
    .filter(({ status }) => Number(status) < 400)
    .flatMap(({ content }) => Object.values(content ?? {}).filter(({ example }) => example !== undefined));

const bodyOf = ({ requestBody }: Operation): Media | undefined => requestBody?.content?.['application/json'];

interface Found {
  readonly title: string;
  readonly value: Json;
}

/** The objects in an example, each with the name of the component that describes it; '' where none does. */
function objectsIn(value: unknown, schema: Schema): readonly Found[] {
  const { items, properties = {}, anyOf = [] } = resolve(schema);
  if (Array.isArray(value)) return value.flatMap((one) => objectsIn(one, items ?? {}));
  if (typeof value !== 'object' || value === null) return [];
  const variants = anyOf.filter((one) => !('type' in one));
  const [variant] = variants;
  if (variant !== undefined && Object.keys(properties).length === 0)
    return objectsIn(value, variants.length === 1 ? variant : {});
  const title = schema.$ref?.split('/').pop() ?? '';
  return [
    { title, value: value as Json },
    ...Object.entries(value).flatMap(([name, inner]) => objectsIn(inner, properties[name] ?? {})),
  ];
}

const allObjects = () =>
  operations.flatMap((operation) =>
    successesOf(operation).flatMap(({ example, schema }) =>
      objectsIn(example, schema).map((found) => ({ ...found, operationId: operation.operationId })),
    ),
  );

/** Every text of the registry, with any values. */
const REGISTERED = Object.values(ERRORS).map(
  ({ text }) =>
    new RegExp(
      `^${text.de
        // Stands only in answers to real requests.
        .replace('{hint}', '')
        .split(/\{\w+\}/)
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
        .join('.+')}$`,
    ),
);
const isRegistered = (text: unknown) => REGISTERED.some((pattern) => pattern.test(String(text)));

const takesVersion = ({ parameters = [] }: (typeof operations)[number]) =>
  parameters.some((one) => resolve(one).name.toLowerCase() === 'if-match');

describe('an example of a body', () => {
  it('is taken by its operation', async () => {
    const refused: unknown[] = [];
    let sent = 0;
    for (const operation of operations) {
      const { method, path, operationId } = operation;
      const body = bodyOf(operation);
      // The secret of the example can't open a session here.
      if (body === undefined || operationId === 'openSession') continue;
      sent += 1;
      const answer = await app.fastify.inject({
        method: method.toUpperCase() as 'POST',
        url: path
          .replace('{address}', 'ann@example.com')
          .replace('/keys/{id}', '/keys/4r8gk2m0vqxz')
          .replaceAll(/\{\w+\}/g, '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47'),
        headers: { ...AUTHORIZED, ...(takesVersion(operation) ? { 'if-match': '"2"' } : {}) },
        payload: body.example as object,
      });
      if (answer.statusCode >= 300) refused.push([operationId, answer.statusCode, answer.body]);
    }
    expect(refused).toEqual([]);
    expect(sent).toBeGreaterThan(20);
  });
});

describe('an example of an answer', () => {
  it('says what the example of the body asked for', () => {
    const contradictions = operations.flatMap((operation) => {
      const asked = Object.entries(Object(bodyOf(operation)?.example)).filter(
        ([, value]) => typeof value !== 'object' || value === null,
      );
      return successesOf(operation).flatMap(({ example }) =>
        [example, ...Object.values(Object(example))].flatMap((one) =>
          asked
            .filter(([name, value]) => name in Object(one) && (one as Json)[name] !== value)
            .map(([name]) => `${operation.operationId}: ${name}`),
        ),
      );
    });
    // The thread that is merged into this one, and the name of the key's author.
    expect(contradictions).toEqual(['mergeThreads: thread_id', 'changeKey: name']);
  });

  it('names no error where none happened', () => {
    const found = allObjects().filter(
      ({ value: { outcome, status, error } }) =>
        outcome === 'delivered' && (error !== null || Number(status) >= 300),
    );
    expect(found).toEqual([]);
    expect(allObjects().filter(({ value }) => value['outcome'] === 'delivered').length).toBeGreaterThan(1);
  });

  it('says when what was ended is over', () => {
    const of = (operationId: string) =>
      allObjects().find(
        ({ operationId: id, title }) => id === operationId && ['Key', 'Webhook'].includes(title),
      )?.value;
    expect(of('revokeKey')?.['revoked_at']).toMatch(/^2026-/);
    expect(of('rotateKey')?.['old_secret_until']).toMatch(/^2026-/);
    expect(of('rotateWebhookSecret')?.['old_secret_until']).toMatch(/^2026-/);
  });

  it('has a German text of the registry as its error', () => {
    const said = allObjects().filter(
      // The error of a copy that failed is the mail server's reply.
      ({ title, value }) => typeof value['error'] === 'string' && title !== 'SentCopy',
    );
    expect(said.length).toBeGreaterThan(3);
    expect(said.filter(({ value }) => !isRegistered(value['error']))).toEqual([]);
    expect(isRegistered('the database is unavailable')).toBe(false);
  });

  it('has an identifier of its own for each kind of thing', () => {
    const kinds: Readonly<Record<string, string>> = {
      ...Object.fromEntries(
        'Email EmailPreview LeftOutEmail EmailListing EmailDetail ThreadEmail Sent Queued BatchSent BatchQueued SendState PlacedEmail Received'
          .split(' ')
          .map((title) => [title, 'email']),
      ),
      ...Object.fromEntries(
        ['ThreadSummary', 'ThreadRecord', 'ThreadMark', 'ThreadResult'].map((title) => [title, 'thread']),
      ),
      DraftSummary: 'Draft',
      TemplateSummary: 'Template',
      Variant: 'VariantDetail',
      AttachmentDetail: 'Attachment',
      DeletedWebhook: 'Webhook',
      DeletedAccount: 'Account',
      LatestEvent: 'Event',
      KeyAuthor: 'Key',
      Author: 'Key',
    };
    const kindOf = ({ title, operationId }: { title: string; operationId: string }): string =>
      title === 'DeletedEmails'
        ? operationId === 'deleteThread'
          ? 'thread'
          : 'email'
        : (kinds[title] ?? title);
    const seen = new Map<string, Set<string>>();
    for (const found of allObjects()) {
      const { id } = found.value;
      if (typeof id !== 'string' || found.title === '') continue;
      seen.set(id, (seen.get(id) ?? new Set()).add(kindOf(found)));
    }
    expect(seen.size).toBeGreaterThan(15);
    expect([...seen].filter(([, names]) => names.size > 1).map(([id, names]) => [id, ...names])).toEqual([]);
  });

  it('has one Message-ID for each email', () => {
    const seen = new Map<string, Set<unknown>>();
    const objects = [
      ...allObjects().map(({ value }) => value),
      ...allObjects().flatMap(({ value }) => Object.values(value).filter((inner) => isEmail(inner))),
    ] as readonly Json[];
    for (const { id, message_id: messageId, messageId: sentId } of objects) {
      const said = messageId ?? sentId;
      if (typeof id !== 'string' || typeof said !== 'string') continue;
      seen.set(id, (seen.get(id) ?? new Set()).add(said));
    }
    expect(seen.size).toBeGreaterThan(3);
    expect([...seen].filter(([, ids]) => ids.size > 1)).toEqual([]);
    expect(new Set([...seen.values()].flatMap((ids) => [...ids])).size).toBe(seen.size);
    const events = allObjects().filter(({ title }) => title === 'Event');
    expect(events.length).toBeGreaterThan(0);
    for (const { value } of events)
      expect((value['data'] as { email: Json }).email['id']).toBe(value['email_id']);
  });

  it('has no checks of the sender where the email was sent from here', () => {
    const sent = allObjects().filter(
      ({ value }) => value['direction'] === 'outbound' && 'authentication' in value,
    );
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.filter(({ value }) => value['authentication'] !== null)).toEqual([]);
  });

  it('names as not accepted only whom the body names', () => {
    const named = operations.flatMap((operation) =>
      successesOf(operation).flatMap(({ example }) => {
        const list = ((example as Json)['not_accepted'] ?? []) as readonly { readonly address: string }[];
        return list.map(({ address }) => ({
          address,
          to: String(Object(bodyOf(operation)?.example)['to']),
          operationId: operation.operationId,
        }));
      }),
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter(({ address, to }) => !to.includes(address))).toEqual([]);
  });
});

const isEmail = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'message_id' in value;
