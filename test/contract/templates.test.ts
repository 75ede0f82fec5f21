/** Templates, and emails made from them, through the built service. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink();
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Sales <sales@example.com>',
      READ_TIMEOUT_MS: '2000',
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await sink.stop();
  await database.drop();
});

async function ask(
  target: string,
  json?: unknown,
  {
    method = json === undefined ? 'GET' : 'POST',
    headers = {},
  }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await service.request(target, {
    method,
    headers,
    ...(json === undefined ? {} : { json }),
  });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Record<string, unknown>,
  };
}

const ORDER = {
  name: 'Order',
  subject: 'Order {{ order.number }}',
  text_body: 'Hello {{ name }},\n{% for line in lines %}{{ line }}\n{% endfor %}',
  html_body: '<p>Hello {{ name }}</p>',
};
const VARIABLES = { name: '<Zoë>', order: { number: 7 }, lines: ['a', 'b'] };

/** Few steps, each of which takes time that grows with the product of both lengths: the process that reads it is ended. */
const SLOW = `{% assign s = "${'a'.repeat(100_000)}" %}{% assign p = "${'a'.repeat(25_000)}b${'a'.repeat(25_000)}" %}{% for i in (1..1000) %}{% if s contains p %}{% endif %}{% endfor %}`;

const make = async (fields: object = ORDER) => (await ask('/api/templates', fields)).json as { id: string };
const change = (id: string, version: number, fields: object) =>
  ask(`/api/templates/${id}`, fields, { method: 'PATCH', headers: { 'If-Match': `"${version}"` } });
const send = (fields: object, headers: Record<string, string> = {}) =>
  ask('/api/send', { to: 'ann@customer.test', ...fields }, { headers });
const codeOf = ({ status, json }: Answer) => [status, json['code']];
const detailOf = async ({ json }: Answer) => (await ask(`/api/emails/${String(json['id'])}`)).json;
const rawOf = ({ json }: Answer) =>
  sink.byMessageId(String(json['messageId']))[0]?.raw.toString('latin1') ?? '';

describe('an email of a template', () => {
  it('says what the template makes of the variables, in the record and in the message', async () => {
    const { id } = await make();
    const sent = await send({ template_id: id, variables: VARIABLES });
    expect(sent.status).toBe(200);
    expect(await detailOf(sent)).toMatchObject({
      subject: 'Order 7',
      text_body: 'Hello <Zoë>,\na\nb\n',
      html_body: '<p>Hello &lt;Zoë&gt;</p>',
    });
    expect(rawOf(sent)).toMatch(/^Subject: Order 7\r$/m);
  });

  it('stays what it was when the template is changed and deleted', async () => {
    const { id } = await make();
    const sent = await send({ template_id: id, variables: VARIABLES });
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const queued = await send({ template_id: id, variables: VARIABLES, send_at: sendAt });
    expect(queued.status).toBe(202);
    expect((await change(id, 1, { subject: 'New {{ order.number }}' })).status).toBe(200);
    expect((await ask(`/api/templates/${id}`, undefined, { method: 'DELETE' })).status).toBe(200);
    for (const one of [sent, queued]) expect(await detailOf(one)).toMatchObject({ subject: 'Order 7' });
    expect(codeOf(await send({ template_id: id, variables: VARIABLES }))).toEqual([
      404,
      'template_not_found',
    ]);
  });

  it('is made of the newest version, or of the one that is named', async () => {
    const { id } = await make({ name: 'v', subject: 'one', text_body: 'one' });
    await change(id, 1, { subject: 'two' });
    expect(await detailOf(await send({ template_id: id }))).toMatchObject({
      subject: 'two',
      text_body: 'one',
    });
    const older = await send({ template_id: id, template_version: 1 });
    expect(await detailOf(older)).toMatchObject({ subject: 'one' });
    expect(codeOf(await send({ template_id: id, template_version: 3 }))).toEqual([404, 'template_not_found']);
  });

  it('says itself what the request names', async () => {
    const { id } = await make();
    const sent = await send({
      template_id: id,
      variables: VARIABLES,
      subject: 'Mine',
      html_body: '<b>Mine</b>',
    });
    expect(await detailOf(sent)).toMatchObject({
      subject: 'Mine',
      text_body: 'Hello <Zoë>,\na\nb\n',
      html_body: '<b>Mine</b>',
    });
  });

  it('is sent once with an idempotency key, whatever became of the template', async () => {
    const { id } = await make({ name: 'k', subject: 'one', text_body: '{{ x }}' });
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await send({ template_id: id, variables: { x: 1 } }, key);
    await change(id, 1, { subject: 'two' });
    const repeat = await send({ variables: { x: 1 }, template_id: id.toUpperCase() }, key);
    expect([repeat.json, repeat.headers.get('idempotency-replayed')]).toEqual([first.json, 'true']);
    const other = await send({ template_id: id, variables: { x: 2 } }, key);
    expect(codeOf(other)).toEqual([409, 'idempotency_key_reused']);
  });

  it('answers another one, with the quote below and the subject of the thread', async () => {
    const { id } = await make();
    const received = await receive(service, mail({ subject: 'Question' }));
    const reply = await ask(`/api/emails/${received.id}/reply`, { template_id: id, variables: VARIABLES });
    expect(reply.status).toBe(200);
    const detail = await detailOf(reply);
    expect(detail).toMatchObject({ subject: 'Re: Question', thread_id: received.threadId });
    expect(detail['text_body']).toMatch(/^Hello <Zoë>,\na\nb\n[^]*\n> /);
    expect(detail['html_body']).toMatch(/^<p>Hello &lt;Zoë&gt;<\/p>[^]*<blockquote/);
  });

  it('is sent of a draft', async () => {
    const { id } = await make();
    const message = { to: 'ann@customer.test', template_id: id, variables: { ...VARIABLES, name: 'Draft' } };
    const draft = (await ask('/api/drafts', { message })).json;
    const sent = await ask(`/api/drafts/${String(draft['id'])}/send`, undefined, { method: 'POST' });
    expect(await detailOf(sent)).toMatchObject({ subject: 'Order 7', html_body: '<p>Hello Draft</p>' });
  });

  it.each(['\r\nBcc: eve@example.net', '\nX-Evil: 1', '\r', '\u0000', '\u007f', '\u2028\r\n'])(
    'gets no header from a variable in its subject: %j',
    async (end) => {
      const { id } = await make({ name: 'h', subject: 'Order {{ x }}', text_body: 'x' });
      const given = { template_id: id, variables: { x: `1${end}` } };
      const before = sink.messages.length;
      // NUL is no text in any field.
      const code = end === '\u0000' ? 'invalid_text' : 'header_injection';
      expect(codeOf(await send(given))).toEqual([400, code]);
      expect(codeOf(await ask(`/api/templates/${id}/preview`, { variables: given.variables }))).toEqual([
        400,
        code,
      ]);
      expect(sink.messages).toHaveLength(before);
    },
  );

  it.each<[string, object, object, [number, string], RegExp]>([
    [
      'a variable that is missing',
      ORDER,
      { name: 'x', lines: [], order: {} },
      [400, 'template_variable_missing'],
      /order\.number.*subject, Zeile 1/,
    ],
    [
      'one on a later line',
      { ...ORDER, subject: 's', text_body: 'a\nb\n{{ c.d }}' },
      { name: 'x', c: {} },
      [400, 'template_variable_missing'],
      /c\.d.*text_body, Zeile 3/,
    ],
    [
      'an empty subject',
      { ...ORDER, subject: '{{ name }}' },
      { name: ' ', lines: [] },
      [400, 'template_empty'],
      /subject/,
    ],
    [
      'variables that are too large',
      ORDER,
      { ...VARIABLES, more: 'x'.repeat(70_000) },
      [400, 'variables_too_large'],
      /65536/,
    ],
    [
      'a long text in place of a file',
      ORDER,
      { ...VARIABLES, content: 'YWFh'.repeat(50_000) },
      [400, 'variables_too_large'],
      /65536/,
    ],
    [
      'a loop that does not end',
      { ...ORDER, html_body: '{% for i in (1..900000000) %}x{% endfor %}' },
      VARIABLES,
      [400, 'template_too_complex'],
      /html_body/,
    ],
    [
      'what takes too long',
      {
        ...ORDER,
        text_body: SLOW,
      },
      { ...VARIABLES, lines: undefined },
      [400, 'template_too_complex'],
      /text_body/,
    ],
    [
      'a subject that is too long',
      { ...ORDER, subject: '{{ name }}' },
      { name: 'x'.repeat(2001), lines: [] },
      [400, 'invalid_request'],
      /subject/,
    ],
    [
      'what no email can hold',
      ORDER,
      { ...VARIABLES, name: 'x\u0000' },
      [400, 'invalid_text'],
      /variables\.name/,
    ],
    [
      'a variable that it does not name',
      ORDER,
      { ...VARIABLES, nmae: 'x' },
      [400, 'invalid_request'],
      /variables\.nmae/,
    ],
  ])('is not sent with %s', async (_name, fields, variables, expected, text) => {
    const { id } = await make(fields);
    const before = sink.messages.length;
    const answer = await send({ template_id: id, variables });
    expect(codeOf(answer)).toEqual(expected);
    expect(answer.json['error']).toMatch(text);
    expect(sink.messages).toHaveLength(before);
  });

  it.each<[object, [number, string]]>([
    [{ template_id: 'x' }, [400, 'invalid_uuid']],
    [{ template_id: randomUUID() }, [404, 'template_not_found']],
    [{ template_id: randomUUID(), template_version: 0 }, [400, 'invalid_request']],
    [{ template_id: randomUUID(), template_version: 1.5 }, [400, 'invalid_request']],
    [{ template_id: randomUUID(), template_version: 2 ** 31 }, [400, 'invalid_request']],
    [{ template_id: randomUUID(), variables: [] }, [400, 'invalid_request']],
    [{ template_id: null }, [400, 'missing_recipient_or_subject']],
    [{ template_id: null, subject: 's' }, [400, 'missing_body']],
  ])('is refused: %j', async (fields, expected) => {
    expect(codeOf(await send(fields))).toEqual(expected);
  });
});

describe('while a template takes all the time it may', () => {
  it('the service answers others', { tags: ['long'] }, async () => {
    const { id } = await make({
      ...ORDER,
      text_body: SLOW,
    });
    const ends = { isAnswered: false };
    const used = { ...VARIABLES, lines: undefined };
    const slow = send({ template_id: id, variables: used }).finally(() => (ends.isAnswered = true));
    let answers = 0;
    while (!ends.isAnswered) {
      expect((await ask('/api/health')).status).toBe(200);
      answers++;
    }
    expect(codeOf(await slow)).toEqual([400, 'template_too_complex']);
    // A blocked event loop would have answered at most one.
    expect(answers).toBeGreaterThan(2);
  });
});

describe('a template', () => {
  it('is made, read, listed and previewed', async () => {
    const made = await ask('/api/templates', { ...ORDER, account_id: 'default' });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    const { id } = made.json as { id: string };
    expect(made.json).toEqual({
      id,
      account_id: 'default',
      latest_version: 1,
      version: 1,
      ...ORDER,
      variables: ['order.number', 'name', 'lines'],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await ask(`/api/templates/${id}`)).json).toEqual(made.json);
    const { templates } = (await ask('/api/templates?account_id=default')).json as {
      templates: { id: string }[];
    };
    const {
      version: _version,
      text_body: _text,
      html_body: _html,
      variables: _variables,
      ...summary
    } = made.json;
    expect(templates[0]).toEqual(summary);
    expect((await ask(`/api/templates/${id}/preview`, { variables: VARIABLES })).json).toEqual({
      version: 1,
      subject: 'Order 7',
      text_body: 'Hello <Zoë>,\na\nb\n',
      html_body: '<p>Hello &lt;Zoë&gt;</p>',
    });
    expect(codeOf(await ask(`/api/templates/${id}/preview`, {}))).toEqual([400, 'template_variable_missing']);
  });

  it('keeps every version as it was', async () => {
    const { id } = await make();
    const first = (await ask(`/api/templates/${id}`)).json;
    const changed = await change(id, 1, { html_body: null, name: 'Renamed' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.json).toMatchObject({ version: 2, latest_version: 2, html_body: null, name: 'Renamed' });
    const { latest_version: _newest, updated_at: _updated, ...old } = first;
    expect((await ask(`/api/templates/${id}?version=1`)).json).toMatchObject({ ...old, latest_version: 2 });
    expect(codeOf(await ask(`/api/templates/${id}?version=3`))).toEqual([404, 'template_not_found']);
    const versions = await query(
      database.connectionString,
      `select version from template_versions where template_id = '${id}' order by version`,
    );
    expect(versions).toEqual([{ version: 1 }, { version: 2 }]);
  });

  it('is changed by one of those who change a version at the same moment', async () => {
    const { id } = await make();
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) => change(id, 1, { name: `name ${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
    const lost = answers.find(({ status }) => status === 412);
    expect(lost?.json).toMatchObject({ code: 'template_changed', details: '2' });
    expect((await ask(`/api/templates/${id}`)).json).toMatchObject({ version: 2 });
  });

  it('is deleted with its versions', async () => {
    const { id } = await make();
    await change(id, 1, { name: 'x' });
    const old = { method: 'DELETE', headers: { 'If-Match': '"1"' } };
    expect(codeOf(await ask(`/api/templates/${id}`, undefined, old))).toEqual([412, 'template_changed']);
    const gone = await ask(`/api/templates/${id}`, undefined, {
      method: 'DELETE',
      headers: { 'If-Match': '"2"' },
    });
    expect(gone.json).toEqual({ template_id: id, deleted_at: expect.any(String) });
    expect(codeOf(await ask(`/api/templates/${id}`))).toEqual([404, 'template_not_found']);
    expect(codeOf(await ask(`/api/templates/${id}?version=1`))).toEqual([404, 'template_not_found']);
    expect(codeOf(await change(id, 2, {}))).toEqual([404, 'template_not_found']);
    expect(codeOf(await ask(`/api/templates/${id}`, undefined, { method: 'DELETE' }))).toEqual([
      404,
      'template_not_found',
    ]);
    const rows = `select version from template_versions where template_id = '${id}'`;
    expect(await query(database.connectionString, rows)).toEqual([]);
  });

  it('is listed page by page, each once', async () => {
    const made = new Set<string>();
    for (let index = 0; index < 5; index++) made.add((await make()).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = (await ask(`/api/templates?limit=2${after}`)).json as {
        templates: { id: string }[];
        next_cursor: string | null;
      };
      seen.push(...page.templates.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => made.has(id))).toHaveLength(5);
  });

  it.each<[object, [number, string], string]>([
    [
      { ...ORDER, html_body: '<p>\n{% if x %}</p>' },
      [400, 'template_invalid'],
      'html_body, Zeile 2, Spalte 1',
    ],
    [{ ...ORDER, text_body: '{% include "/etc/passwd" %}' }, [400, 'template_invalid'], 'text_body, Zeile 1'],
    [{ ...ORDER, subject: '{{ x | nope }}' }, [400, 'template_invalid'], 'subject, Zeile 1'],
    [{ ...ORDER, subject: 'a\r\nBcc: eve@example.net' }, [400, 'header_injection'], 'subject'],
    [{ ...ORDER, name: 'a\nb' }, [400, 'invalid_request'], 'name'],
    [{ ...ORDER, text_body: 'a\u0000' }, [400, 'invalid_text'], 'text_body'],
    [{ ...ORDER, html_body: '\ud800' }, [400, 'invalid_text'], 'html_body'],
    [{ ...ORDER, text_body: 'x'.repeat(262_145) }, [400, 'invalid_request'], 'text_body'],
    [{ name: 'x', subject: 'x' }, [400, 'missing_body'], ''],
    [{ name: 'x', text_body: 'x' }, [400, 'invalid_request'], 'subject'],
    [{ ...ORDER, account_id: 'nobody' }, [400, 'unknown_account'], 'nobody'],
    [{ ...ORDER, more: 1 }, [400, 'unknown_field'], 'more'],
  ])('is refused: %j', async (fields, expected, text) => {
    const before = await query(database.connectionString, 'select count(*) from templates');
    const answer = await ask('/api/templates', fields);
    expect(codeOf(answer)).toEqual(expected);
    expect(answer.json['error']).toContain(text);
    expect(JSON.stringify(answer.json)).not.toMatch(/ENOENT|node_modules|\bat \w+ \(/);
    expect(await query(database.connectionString, 'select count(*) from templates')).toEqual(before);
  });

  it('is not changed without the version that is changed, nor to what it can not be', async () => {
    const { id } = await make();
    const patch = (headers: Record<string, string>, fields: object) =>
      ask(`/api/templates/${id}`, fields, { method: 'PATCH', headers });
    expect(codeOf(await patch({}, { name: 'x' }))).toEqual([428, 'version_required']);
    expect(codeOf(await patch({ 'If-Match': 'x' }, { name: 'x' }))).toEqual([428, 'version_required']);
    expect(codeOf(await change(id, 1, { text_body: null, html_body: null }))).toEqual([400, 'missing_body']);
    expect(codeOf(await change(id, 1, { subject: '{{' }))).toEqual([400, 'template_invalid']);
    expect((await ask(`/api/templates/${id}`)).json).toMatchObject({ version: 1 });
  });

  it('takes variables of any depth that fits', async () => {
    const { id } = await make({ name: 'd', subject: 's', text_body: '{{ x | json }}' });
    const deep = (levels: number) => `{"variables": {"x": ${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    const preview = async (body: string) => {
      const response = await service.request(`/api/templates/${id}/preview`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await preview(deep(20))).toEqual([200, undefined]);
    // As deep as any other body may be.
    expect(await preview(deep(60_000))).toEqual([400, 'invalid_request']);
  });

  it('is made, changed and deleted by callers who may operate, and told to the audit log', async () => {
    const key = async (right: string) => {
      const { json } = await ask('/api/keys', { name: right, rights: [right], account_ids: '*' });
      return { authorization: `Bearer ${String(json['secret'])}` };
    };
    const [reader, sender, operator] = [await key('read'), await key('send'), await key('operate')];
    expect(codeOf(await ask('/api/templates', ORDER, { headers: reader }))).toEqual([403, 'forbidden_right']);
    expect(codeOf(await ask('/api/templates', ORDER, { headers: sender }))).toEqual([403, 'forbidden_right']);
    const made = await ask('/api/templates', ORDER, { headers: operator });
    expect(made.status).toBe(201);
    const target = `/api/templates/${String(made.json['id'])}`;
    expect((await ask(target, undefined, { headers: reader })).status).toBe(200);
    expect(codeOf(await ask(target, undefined, { headers: sender }))).toEqual([403, 'forbidden_right']);
    const message = { template_id: made.json['id'], variables: VARIABLES };
    expect((await send(message, sender)).status).toBe(200);
    expect((await ask(target, undefined, { method: 'DELETE', headers: operator })).status).toBe(200);
    const { entries } = (await ask('/api/audit?limit=5')).json as { entries: Record<string, unknown>[] };
    const acts = entries.map(({ act, target: of, outcome }) => [act, of, outcome]);
    expect(acts).toContainEqual(['template.deleted', made.json['id'], 'done']);
    expect(acts).toContainEqual(['template.created', null, 'done']);
  });
});
