/**
 * What GET answers, given back to the PUT or PATCH of the same path: whole, and each of its fields alone. It either changes nothing, or is
 * refused by an error that names a field of it. Resources come from the document: one that has no sample below fails.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { startServiceWithSink, type RunningService } from '../helpers/running-service.ts';

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in?: string; readonly name?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
}

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: Json;
};

const RESOURCES = Object.entries(document.paths).flatMap(([path, operations]) =>
  (['put', 'patch'] as const).flatMap((method) => {
    const write = operations[method];
    // PATCH of a list is for its members.
    const isOne = path.includes('{');
    return write === undefined || operations['get'] === undefined || !isOne ? [] : [{ path, method, write }];
  }),
);

let running: RunningService;
beforeAll(async () => {
  running = await startServiceWithSink({ WEBHOOK_ALLOW: '127.0.0.0/8' });
});
afterAll(() => running.end());

async function ask(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Json> {
  const response = await running.service.request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return { ...(JSON.parse(text) as Json), etag: response.headers.get('etag') };
}

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
const SEND = {
  to: '"Ann" <ann@customer.test>, bob@customer.test',
  cc: 'cc@customer.test',
  subject: 'Offer',
  text_body: 'Hello',
  html_body: '<p>Hello</p>',
  tags: ['offer'],
  metadata: { order: 7 },
  headers: { 'X-Order': '7' },
  send_at: TOMORROW,
};

/** The path of a resource that has a value in each field that may have one. */
const SAMPLES: Readonly<Record<string, () => Promise<string>>> = {
  '/api/threads/{threadId}': async () => {
    const of = { customer_id: randomUUID(), company_id: randomUUID() };
    const { threadId } = await ask('/api/send', { json: { ...SEND, ...of } });
    const path = `/api/threads/${String(threadId)}`;
    const { key } = await ask('/api/keys', {
      json: { name: 'Ann', rights: ['read', 'send'], account_ids: '*' },
    });
    const { id: assignee } = key as { id: string };
    await ask(path, { method: 'PATCH', json: { assignee, labels: ['a', 'b'], status: 'done' } });
    return path;
  },
  '/api/drafts/{id}': async () => {
    const attachments = [{ filename: 'a.txt', content_type: 'text/plain', content: 'QQ==' }];
    const { send_at: _later, ...message } = SEND;
    const { id } = await ask('/api/drafts', { json: { author: 'Ann', message, attachments } });
    return `/api/drafts/${String(id)}`;
  },
  '/api/templates/{id}': async () => {
    const { id } = await ask('/api/templates', {
      json: { name: randomUUID(), subject: 'Dear {{ name }}', text_body: 'Hello {{ name }}' },
    });
    return `/api/templates/${String(id)}`;
  },
  '/api/emails/{id}': async () => `/api/emails/${String((await ask('/api/send', { json: SEND }))['id'])}`,
  '/api/suppressions/{address}': async () => {
    const path = `/api/suppressions/${randomUUID()}@customer.test`;
    await ask(path, { method: 'PUT', json: {} });
    return path;
  },
  '/api/customer/{customerId}/addresses': async () => {
    const path = `/api/customer/${randomUUID()}/addresses`;
    await ask(path, {
      method: 'PUT',
      json: {
        addresses: ['ann@customer.test'],
        domains: ['customer.test'],
        name: 'Ann',
        company_id: randomUUID(),
      },
    });
    return path;
  },
  '/api/webhooks/{id}': async () => {
    const { webhook } = await ask('/api/webhooks', {
      json: {
        url: 'http://127.0.0.1:9/hook',
        description: 'CRM',
        types: ['email.sent'],
        headers: { 'X-Token': 'secret' },
      },
    });
    return `/api/webhooks/${(webhook as { id: string }).id}`;
  },
  '/api/accounts/{id}': async () => {
    const { id } = await ask('/api/accounts', {
      json: {
        id: `sales-${randomUUID()}`,
        from: 'Sales <sales@example.test>',
        smtp_url: 'smtp://ann:secret@127.0.0.1:9',
        rate_per_minute: 30,
        join_by_subject: { window_days: 7 },
        trusted_authserv_ids: ['mx.example.test'],
      },
    });
    return `/api/accounts/${String(id)}`;
  },
  '/api/rules/{id}': async () => {
    const { id } = await ask('/api/rules', {
      json: {
        name: randomUUID(),
        account_ids: '*',
        conditions: [{ sender: '*@nobody.test' }],
        actions: { add_labels: ['a'], status: 'done' },
      },
    });
    return `/api/rules/${String(id)}`;
  },
  '/api/keys/{id}': async () => {
    const { key } = await ask('/api/keys', {
      json: { name: randomUUID(), rights: ['read'], account_ids: '*', expires_at: TOMORROW },
    });
    return `/api/keys/${(key as { id: string }).id}`;
  },
};

const resolve = (schema: Json): Json => {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  const steps = reference.slice(2).split('/');
  return steps.reduce<unknown>((node, key) => (node as Json)[key], document) as Json;
};

/** The resource within an answer: itself, or its only object. */
function recordOf({ etag: _etag, ...answer }: Json): Json {
  const { thread, settings, version } = answer as { thread?: Json; settings?: Json; version?: number };
  return thread ?? (settings === undefined ? answer : { ...settings, version });
}

const namesIn = (value: unknown): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);

/** The resource, and the number of its newest event. */
async function stateOf(target: string): Promise<{ answer: Json; event: unknown }> {
  return { answer: await ask(target), event: (await ask('/api/events/latest'))['id'] };
}

describe.each(RESOURCES)('what GET $path answers', ({ path, method, write }) => {
  it(`given back by ${method.toUpperCase()} changes nothing, or is refused by the name of a field`, async () => {
    const sample = SAMPLES[path];
    if (sample === undefined) throw new Error(`${path} has no sample here`);
    const target = await sample();
    await backgroundWorkIsDone(running.database.connectionString);
    const schema = resolve(Object.values(write.requestBody?.content ?? {})[0]?.schema ?? {});
    const writable = Object.keys((schema['properties'] ?? {}) as Json);
    const isConditional = (write.parameters ?? []).some(({ name }) => name?.toLowerCase() === 'if-match');
    const whole = recordOf(await ask(target));
    const shared = Object.keys(whole).filter((name) => writable.includes(name));
    expect(shared).not.toEqual([]);
    for (const names of [Object.keys(whole), shared, ...shared.map((name) => [name])]) {
      const body = Object.fromEntries(names.map((name) => [name, whole[name]]));
      const before = await stateOf(target);
      const { version, send_version: sendVersion } = recordOf(before.answer);
      const tag = before.answer['etag'] ?? `"${String(sendVersion ?? version)}"`;
      const response = await running.service.request(target, {
        method: method.toUpperCase(),
        json: body,
        ...(isConditional ? { headers: { 'if-match': String(tag) } } : {}),
      });
      const { error = '' } = (await response.json()) as { error?: string };
      expect({ body, error, ...(await stateOf(target)) }).toEqual({ body, error, ...before });
      if (response.status === 200) continue;
      expect({ body, status: response.status }).toEqual({ body, status: 400 });
      const fields = [...namesIn(body), ...writable];
      expect([body, error, fields.some((name) => error.includes(name))]).toEqual([body, error, true]);
    }
  });
});

describe('PUT of the addresses of a customer', () => {
  const registered = async (count: number) => {
    const customer = `/api/customer/${randomUUID()}`;
    const addresses = Array.from({ length: count }, (_, index) => `p${index}@customer.test`);
    await ask(`${customer}/addresses`, { method: 'PUT', json: { addresses, domains: ['customer.test'] } });
    return { customer, list: `${customer}/addresses` };
  };
  const put = async (path: string, json: unknown) => {
    const response = await running.service.request(path, { method: 'PUT', json });
    return { ...((await response.json()) as { code?: string; error?: string }), status: response.status };
  };
  const pick = ({ addresses, domains, complete }: Json) => ({ addresses, domains, complete });

  it('refuses a list that was read in part, and removes none of the others', async () => {
    const { customer, list } = await registered(250);
    const shown = await ask(customer);
    expect(shown).toMatchObject({ complete: false });
    const { complete: _complete, ...unsaid } = pick(shown);
    for (const json of [pick(shown), unsaid]) {
      expect(await put(list, json)).toMatchObject({ status: 400, code: 'list_incomplete' });
    }
    const stored = await ask(list);
    expect(stored['addresses']).toHaveLength(250);
    expect(await put(list, { ...pick(stored), addresses: [] })).toMatchObject({ status: 200, addresses: [] });
  });

  it('takes the empty lists that a key of single accounts reads for incomplete', async () => {
    const { customer } = await registered(1);
    const { secret } = await ask('/api/keys', {
      json: { name: randomUUID(), rights: ['read'], account_ids: ['default'] },
    });
    const authorization = `Bearer ${String(secret)}`;
    expect(await ask(customer, { headers: { authorization } })).toMatchObject({
      addresses: [],
      complete: false,
    });
  });

  it.each([
    ['addresses', 'origin', 'learned'],
    ['addresses', 'account_ids', ['default']],
    ['addresses', 'status', 'overruled'],
    ['addresses', 'other_customer_ids', [randomUUID()]],
    ['domains', 'status', 'overruled'],
    ['domains', 'other_customer_ids', [randomUUID()]],
  ])('refuses an entry of %s that has another %s than is stored, by its name', async (kind, field, value) => {
    const { list } = await registered(2);
    const stored = await ask(list);
    const entries = stored[kind] as readonly Json[];
    const given = entries.with(entries.length - 1, { ...entries.at(-1), [field]: value });
    const answer = await put(list, { ...pick(stored), [kind]: given });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.error).toContain(`${kind}[${entries.length - 1}].${field} `);
    expect(await ask(list)).toEqual(stored);
  });

  it('refuses an entry as it is read that is not stored, since a new one is a text', async () => {
    const { list } = await registered(1);
    const stored = await ask(list);
    const [first] = stored['addresses'] as readonly [Json];
    const answer = await put(list, {
      ...pick(stored),
      addresses: [{ ...first, address: 'new@customer.test' }],
    });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.error).toContain('addresses[0] ');
  });
});
