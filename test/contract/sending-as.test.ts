/** In whose name emails go out: the addresses of accounts, and what is ours. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SinkMessage, type SmtpSink } from '../helpers/smtp-sink.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let sink: SmtpSink;
let service: ServiceProcess;
/** Of a key that is limited to the account `sales`. */
let limited: string;
/** Of a key for the account `gmbh` without the right `admin`. */
let author: string;

beforeAll(async () => {
  [database, folder, sink] = await Promise.all([createTestDatabase(), makeTempFolder(), startSmtpSink()]);
  const file = path.join(folder.path, 'accounts.json');
  const accounts = [
    { id: 'info', from: 'Firma <info@firma.test>', smtp_url: sink.url },
    {
      id: 'sales',
      from: 'Vertrieb <sales@firma.test>',
      smtp_url: sink.url,
      addresses: [
        { address: 'angebote@firma.test', name: 'Angebote', reply_to: 'Team <team@firma.test>' },
        { address: 'sales+*@firma.test' },
        { address: '*@shop.test', name: 'Shop' },
      ],
    },
  ];
  const closing = [
    {
      id: 'gmbh',
      from: 'GmbH <gmbh@firma.test>',
      smtp_url: sink.url,
      addresses: [{ address: 'ceo@firma.test', name: 'Chefin', signature_text: '{{ account.name }}' }],
      signature_text: '{{ author.name }}\n{{ account.address }}',
      signature_html: '<i>{{ author.name }}</i>',
      footer_text: 'GmbH, HRB 1',
    },
    {
      id: 'once',
      from: 'once@firma.test',
      smtp_url: sink.url,
      footer_text: 'Once, HRB 2',
      footer_once_per_thread: true,
    },
    {
      id: 'rich',
      from: 'Rich <rich@rich.test>',
      smtp_url: sink.url,
      addresses: [{ address: '*@rich.test' }],
      footer_text: 'Rich GmbH, HRB 3',
      footer_html: '<table><tr><td><b>Rich</b> GmbH</td><td>Impressum</td></tr></table>',
    },
  ];
  await writeFile(file, JSON.stringify([...accounts, ...closing]));
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: file },
  });
  const made = await ask('/api/keys', {
    name: 'sales',
    rights: ['read', 'draft', 'send'],
    account_ids: ['sales'],
  });
  limited = String(made.json['secret']);
  const other = { name: '<Ada>', rights: ['read', 'draft', 'send'], account_ids: ['gmbh'] };
  author = String((await ask('/api/keys', other)).json['secret']);
});
afterAll(async () => {
  await disposeService(service);
  await Promise.all([sink.stop(), folder.remove()]);
  await database.drop();
});

async function ask(target: string, json?: unknown, secret?: string, method?: string): Promise<Answer> {
  const response = await service.request(target, {
    ...(json === undefined ? {} : { json }),
    ...(method === undefined ? {} : { method }),
    headers: {
      ...(method === undefined ? {} : { 'If-Match': '"1"' }),
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    },
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

let count = 0;
const send = (fields: object, secret?: string) =>
  ask(
    '/api/send',
    { to: 'ada@kunde.test', subject: `Mail ${(count += 1)}`, text_body: 'x', ...fields },
    secret,
  );

function sent({ json }: Answer): SinkMessage {
  const [message] = sink.byMessageId(String(json['messageId']));
  if (message === undefined) throw new Error(`nothing was sent: ${JSON.stringify(json)}`);
  return message;
}
const fieldOf = ({ raw }: SinkMessage, name: string): string | null =>
  new RegExp(`^${name}: (.*)$`, 'm').exec(raw.toString().replaceAll('\r\n', '\n'))?.[1] ?? null;
const fromOf = (answer: Answer) => fieldOf(sent(answer), 'From');

describe('a send', () => {
  it.each([
    ['without from', {}, 'Firma <info@firma.test>'],
    ['an account alone', { account_id: 'sales' }, 'Vertrieb <sales@firma.test>'],
    [
      'an address, which decides the account',
      { from: 'Angebote@firma.test' },
      'Angebote <angebote@firma.test>',
    ],
    [
      'a name of its own',
      { from: 'Ada Lovelace <angebote@firma.test>' },
      'Ada Lovelace <angebote@firma.test>',
    ],
    ['as an object', { from: { name: 'Ada', address: 'x7@shop.test' } }, 'Ada <x7@shop.test>'],
    ['a detail', { from: 'sales+4711@firma.test' }, 'Vertrieb <sales+4711@firma.test>'],
    ['from_name before the name in from', { from: 'B <x@shop.test>', from_name: 'C' }, 'C <x@shop.test>'],
  ])('goes out with %s', async (_title, fields, expected) => {
    const answer = await send(fields);
    expect(answer.status).toBe(200);
    expect(fromOf(answer)).toBe(expected);
  });

  it('has the address as its envelope sender, in its Message-ID and in its record', async () => {
    const answer = await send({ from: 'a.b@shop.test' });
    expect(sent(answer).mailFrom).toBe('a.b@shop.test');
    expect(answer.json['messageId']).toMatch(/@shop\.test>$/);
    const { json } = await ask(`/api/emails/${String(answer.json['id'])}`);
    expect(json).toMatchObject({
      account_id: 'sales',
      from_address: { name: 'Shop', address: 'a.b@shop.test' },
    });
  });

  it('has the reply_to of its address, unless it names another one', async () => {
    const from = 'angebote@firma.test';
    expect(fieldOf(sent(await send({ from })), 'Reply-To')).toBe('Team <team@firma.test>');
    expect(fieldOf(sent(await send({ from, reply_to: 'z@firma.test' })), 'Reply-To')).toBe('z@firma.test');
    expect(fieldOf(sent(await send({ account_id: 'sales' })), 'Reply-To')).toBeNull();
  });

  it.each([
    [{ from: 'boss@elsewhere.test' }, '/from'],
    [{ from: 'angebote+x@firma.test' }, '/from'],
    [{ from: '*@shop.test' }, '/from'],
    [{ from: 'angebote@firma.test', account_id: 'info' }, '/from'],
  ])('is refused as another address: %j', async (fields, field) => {
    const before = sink.messages.length;
    expect(await send(fields)).toMatchObject({ status: 403, json: { code: 'forbidden_from', field } });
    expect(sink.messages).toHaveLength(before);
  });

  it.each([
    [{ from: 'no address' }, 'invalid_address', '/from'],
    [{ from: 'a@shop.test, b@shop.test' }, 'invalid_address', '/from'],
    [{ from: 7 }, 'invalid_request', '/from'],
    [{ from: { address: 'a@shop.test', nam: 'x' } }, 'unknown_field', '/from/nam'],
    [{ from: { address: 'a@shop.test', name: 'x\r\nBcc: y' } }, 'header_injection', '/from'],
    [{ from: 'a\r\nBcc: y@z.test <a@shop.test>' }, 'header_injection', '/from'],
  ])('is refused with what is no address: %j', async (fields, code, field) => {
    expect(await send(fields)).toMatchObject({ status: 400, json: { code, field } });
  });

  it('finds an address only within the accounts of its key', async () => {
    expect(fromOf(await send({ from: 'angebote@firma.test' }, limited))).toContain('angebote@');
    expect(await send({ from: 'info@firma.test' }, limited)).toMatchObject({
      status: 403,
      json: { code: 'forbidden_from' },
    });
  });

  it('of a batch is judged for itself', async () => {
    const email = { to: 'ada@kunde.test', subject: 'Batch', text_body: 'x' };
    const { json } = await ask('/api/send/batch', {
      emails: [
        { ...email, from: 'angebote@firma.test' },
        { ...email, from: 'boss@elsewhere.test' },
      ],
    });
    expect(json['results']).toMatchObject([
      { status: 'sent' },
      { http_status: 403, code: 'forbidden_from', field: '/from' },
    ]);
  });
});

describe('an answer', () => {
  const received = async (to: string, headers: readonly string[] = []) =>
    (await receive(service, mail({ to, headers }), '?account_id=sales')).id;
  const reply = (id: string, kind = 'reply', fields: object = {}) =>
    ask(`/api/emails/${id}/${kind}`, { text_body: 'Danke', ...fields });

  it.each([
    ['angebote@firma.test', 'Angebote <angebote@firma.test>'],
    ['Bob <bob@kunde.test>, X <lager@shop.test>', 'Shop <lager@shop.test>'],
    ['undisclosed@lists.test', 'Vertrieb <sales@firma.test>'],
  ])('to an email to %s goes out from %s', async (to, expected) => {
    const id = await received(to);
    expect(fromOf(await reply(id))).toBe(expected);
    expect(fromOf(await reply(id, 'forward', { to: 'z@kunde.test' }))).toBe(expected);
    const { json } = await ask(`/api/emails/${id}/reply`);
    expect(`${(json['from'] as { address: string }).address}`).toBe(/<(.*)>/.exec(expected)?.[1]);
  });

  it('takes the address in Cc when none in To is ours, and stays in it', async () => {
    const first = await reply(await received('bob@kunde.test', ['Cc: angebote@firma.test']));
    expect(fromOf(first)).toBe('Angebote <angebote@firma.test>');
    expect(fromOf(await reply(String(first.json['id'])))).toBe('Angebote <angebote@firma.test>');
  });

  it('goes out as the caller says, within the account', async () => {
    const id = await received('angebote@firma.test');
    expect(fromOf(await reply(id, 'reply', { from: 'x@shop.test' }))).toBe('Shop <x@shop.test>');
    expect(await reply(id, 'reply', { from: 'info@firma.test' })).toMatchObject({
      status: 403,
      json: { code: 'forbidden_from', field: '/from' },
    });
  });

  it('to all goes to none of our addresses', async () => {
    const id = await received('angebote@firma.test, bob@kunde.test, info@firma.test', [
      'Cc: y@shop.test, sales+z@firma.test, cleo@kunde.test',
    ]);
    expect([...sent(await reply(id, 'reply-all')).rcptTo].sort()).toEqual([
      'ada@customer.test',
      'bob@kunde.test',
      'cleo@kunde.test',
    ]);
  });
});

describe('an answer to a colleague', () => {
  it.each(['rich@rich.test', 'rich@rich.test, info@firma.test'])(
    'whose address a pattern covers does not come back to us, written to %s',
    async (to) => {
      const raw = mail({ from: 'Hanna <hanna@rich.test>', to });
      const { id } = await receive(service, raw, '?account_id=rich');
      const { json } = await ask(`/api/emails/${id}/reply`);
      expect(json).toMatchObject({ from: { address: 'rich@rich.test' }, cc: [] });
      expect(json['to']).toEqual([{ name: 'Hanna', address: 'hanna@rich.test' }]);
    },
  );
});

describe('a draft', () => {
  const draft = (message: object, secret?: string) =>
    ask(
      '/api/drafts',
      { message: { to: 'ada@kunde.test', subject: 'Entwurf', text_body: 'x', ...message } },
      secret,
    );

  it('is of the account that sends as its from, and goes out so', async () => {
    const made = await draft({ from: { address: 'angebote@firma.test' } });
    expect(made.json).toMatchObject({
      account_id: 'sales',
      message: { from: { address: 'angebote@firma.test' } },
    });
    const answer = await ask(`/api/drafts/${String(made.json['id'])}/send`, {}, undefined, 'POST');
    expect(fromOf(answer)).toBe('Angebote <angebote@firma.test>');
  });

  it.each([
    [{ from: 'boss@elsewhere.test' }, undefined],
    [{ from: 'angebote@firma.test', account_id: 'info' }, undefined],
    [{ from: 'info@firma.test' }, 'limited'],
  ])('is refused with another address: %j', async (message, key) => {
    expect(await draft(message, key === undefined ? undefined : limited)).toMatchObject({
      status: 403,
      json: { code: 'forbidden_from', field: '/message/from' },
    });
  });
});

describe('an email in another name', () => {
  it('is found by its copy in Sent, also under a Message-ID of the relay', async () => {
    const answer = await send({ from: 'sent@shop.test' });
    const raw = sent(answer).raw.toString('latin1');
    const messageId = String(answer.json['messageId']);
    for (const id of [messageId, `<${randomUUID()}@relay.test>`]) {
      const copy = await receive(service, raw.replaceAll(messageId, id), '?account_id=sales&sent=true');
      expect(copy).toMatchObject({ status: 'duplicate', id: answer.json['id'] });
    }
  });

  it('is found by the report of its failure, whose recipient is then suppressed', async () => {
    const to = `${randomUUID()}@kunde.test`;
    const answer = await send({ from: 'bounce@shop.test', to });
    const report = deliveryReport(String(answer.json['messageId']), [{ address: to }], {
      to: 'bounce@shop.test',
    });
    const { threadId } = await receive(service, report, '?account_id=sales');
    expect(threadId).toBe(answer.json['threadId']);
    await expect
      .poll(async () => (await send({ from: 'other@shop.test', to })).json['code'])
      .toBe('recipient_suppressed');
  });
});

describe('a customer', () => {
  it('has none of our addresses, though a send named them together', async () => {
    const customer = randomUUID();
    const known = async () => {
      const { json } = await ask(`/api/customer/${customer}`);
      return ((json['addresses'] ?? []) as { address: string }[]).map(({ address }) => address);
    };
    const to = `${customer}@kunde.test, team@firma.test, any@shop.test, info@firma.test, sales+1@firma.test`;
    await send({ to, customer_id: customer });
    await expect.poll(known).toEqual([`${customer}@kunde.test`, 'team@firma.test']);
  });
});

describe('a received email', () => {
  it('that one of us wrote in another name is about the customer', async () => {
    const raw = mail({
      from: 'Shop <kasse@shop.test>',
      to: 'info@firma.test',
      headers: ['Reply-To: angebote@firma.test, Ada <ada@kunde.test>'],
    });
    const { id } = await receive(service, raw, '?account_id=info');
    const { json } = await ask(`/api/emails/${id}`);
    expect(json['suggested_counterparty']).toMatchObject({ address: 'ada@kunde.test', reason: 'reply_to' });
  });
});

describe('a signature and a footer', () => {
  const emailOf = async ({ json }: Answer) => (await ask(`/api/emails/${String(json['id'])}`)).json;
  const textOf = async (answer: Answer) => (await emailOf(answer))['text_body'];
  const gmbh = { account_id: 'gmbh' };

  it('are below the text: the footer always, the signature when it is asked for', async () => {
    expect(await textOf(await send(gmbh))).toBe('x\n\n-- \nGmbH, HRB 1\n');
    const signed = await send({ ...gmbh, signature: true, html_body: '<p>x</p>' }, author);
    const { text_body: text, html_body: html } = await emailOf(signed);
    expect(text).toBe('x\n\n-- \n<Ada>\ngmbh@firma.test\n\nGmbH, HRB 1\n');
    expect(html).toContain('<p>x</p><br><div>-- <br><div><i>&lt;Ada&gt;</i></div>');
    expect(html).toContain('GmbH, HRB 1');
    // What is recorded is what was sent.
    expect(sent(signed).raw.toString().replaceAll('=20', ' ')).toContain(
      '-- \r\n<Ada>\r\ngmbh@firma.test\r\n\r\nGmbH, HRB 1',
    );
    expect(await textOf(await send({ account_id: 'sales', signature: true }))).toBe('x');
  });

  it('of an address come before those of its account', async () => {
    expect(await textOf(await send({ from: 'ceo@firma.test', signature: true }))).toBe(
      'x\n\n-- \nChefin\n\nGmbH, HRB 1\n',
    );
  });

  it('stand above the quote of an answer and the email of a forward', async () => {
    const { id } = await receive(service, mail({ to: 'gmbh@firma.test' }), '?account_id=gmbh');
    const body = { text_body: 'Danke', signature: true };
    const reply = await textOf(await ask(`/api/emails/${id}/reply`, body, author));
    expect(reply).toMatch(
      /^Danke\n\n-- \n<Ada>\ngmbh@firma\.test\n\nGmbH, HRB 1\n\nAm .*schrieb Ada.*\n\n> Guten Tag\n/,
    );
    const forward = await textOf(await ask(`/api/emails/${id}/forward`, { to: 'z@kunde.test' }, author));
    expect(forward).toMatch(/^-- \nGmbH, HRB 1\n\n.*Guten Tag/s);
  });

  it('are on drafts and scheduled emails, and a new text keeps the footer', async () => {
    const message = { ...gmbh, to: 'ada@kunde.test', subject: 'Entwurf', text_body: 'x', signature: true };
    const draft = await ask('/api/drafts', { message }, author);
    const later = await ask(`/api/drafts/${String(draft.json['id'])}/send`, {}, author, 'POST');
    expect(await textOf(later)).toBe('x\n\n-- \n<Ada>\ngmbh@firma.test\n\nGmbH, HRB 1\n');
    const queued = await send({ ...gmbh, send_at: new Date(Date.now() + 86_400_000).toISOString() });
    const id = String(queued.json['id']);
    const { text_body: text, send_version: version } = await emailOf(queued);
    const change = async (fields: object, asked: unknown) => {
      const response = await service.request(`/api/emails/${id}`, {
        method: 'PATCH',
        json: fields,
        headers: { 'If-Match': `"${String(asked)}"` },
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const same = await change({ text_body: text }, version);
    expect(same).toMatchObject({ text_body: text, send_version: version });
    const edited = await change({ text_body: `y\n\n${String(text)}` }, version);
    expect(edited).toMatchObject({ text_body: `y\n\n${String(text)}` });
    const other = await change({ text_body: 'z' }, edited['send_version']);
    expect(other).toMatchObject({ text_body: 'z\n\n-- \nGmbH, HRB 1\n' });
  });

  const scheduled = () => ({ send_at: new Date(Date.now() + 86_400_000).toISOString() });
  const edit = async (id: unknown, toBody: (email: Record<string, unknown>) => object) => {
    const { json } = await ask(`/api/emails/${String(id)}`);
    const response = await service.request(`/api/emails/${String(id)}`, {
      method: 'PATCH',
      json: toBody(json),
      headers: { 'If-Match': `"${String(json['send_version'])}"` },
    });
    return (await response.json()) as Record<string, unknown>;
  };

  it('are not doubled by a new text where the HTML of the footer has other words', async () => {
    const { json } = await send({ account_id: 'rich', html_body: '<p>x</p>', ...scheduled() });
    const toBody = ({ text_body: text, html_body: html }: Record<string, unknown>) => ({
      text_body: `y ${String(text)}`,
      html_body: `<p>y</p>${String(html)}`,
    });
    const edited = await edit(json['id'], toBody);
    expect(String(edited['html_body']).split('Impressum')).toHaveLength(2);
    expect(String(edited['text_body']).split('HRB 3')).toHaveLength(2);
    const other = await edit(json['id'], () => ({ text_body: 'z', html_body: '<p>z</p>' }));
    expect(other['html_body']).toContain('Impressum');
    expect(other['text_body']).toContain('HRB 3');
  });

  it.each([['text_body'], ['html_body']])('are not left out of a new %s by one in a quote', async (form) => {
    const first = await send({ account_id: 'gmbh', [form]: '<p>x</p>' });
    const body = { [form]: 'Nochmal', ...scheduled() };
    const reply = await ask(`/api/emails/${String(first.json['id'])}/reply`, body);
    const edited = await edit(reply.json['id'], (email) => ({
      [form]: String(email[form]).replace('GmbH, HRB 1', ''),
    }));
    expect(String(edited[form]).split('HRB 1')).toHaveLength(3);
  });

  it('are left out by administrators alone', async () => {
    expect(await textOf(await send({ ...gmbh, footer: false }))).toBe('x');
    expect(await send({ ...gmbh, footer: false }, author)).toMatchObject({
      status: 403,
      json: { code: 'forbidden_right' },
    });
    const message = { ...gmbh, to: 'ada@kunde.test', subject: 'Entwurf', text_body: 'x', footer: false };
    expect(await ask('/api/drafts', { message }, author)).toMatchObject({ status: 403 });
    const draft = await ask('/api/drafts', { message });
    const target = `/api/drafts/${String(draft.json['id'])}/send`;
    expect(await ask(target, {}, author, 'POST')).toMatchObject({
      status: 403,
      json: { code: 'forbidden_right' },
    });
    expect(await textOf(await ask(target, {}, undefined, 'POST'))).toBe('x');
  });

  it('are not on automatic answers, but on what a program sends of its own', async () => {
    expect(await textOf(await send({ ...gmbh, auto_submitted: 'auto-replied' }))).toBe('x');
    expect(await textOf(await send({ ...gmbh, auto_submitted: 'auto-generated' }))).toContain('HRB 1');
  });

  it('of an account may be once in a thread', async () => {
    const first = await send({ account_id: 'once' });
    expect(await textOf(first)).toContain('HRB 2');
    expect(await textOf(await send({ thread_id: first.json['threadId'] }))).toBe('x');
    expect(await textOf(await send({ account_id: 'once', in_reply_to: first.json['messageId'] }))).toBe('x');
    expect(await textOf(await send({ account_id: 'once' }))).toContain('HRB 2');
  });

  it('once in a thread are on an email that goes out before a scheduled one', async () => {
    const { json } = await send({ account_id: 'once', ...scheduled() });
    expect(await textOf(await send({ thread_id: json['threadId'] }))).toContain('HRB 2');
    expect(await textOf(await send({ thread_id: json['threadId'] }))).toBe('x');
  });

  it.each([
    [{ signature_text: '{{ author.phone }}' }, 'signature_text'],
    [{ signature_text: '{% if %}' }, 'signature_text'],
    [{ addresses: [{ address: 'a@b.test', signature_text: '{{ x }}' }] }, 'addresses[0].signature_text'],
    [{ signature_html: '<b>x</b>' }, 'signature_html'],
    [{ footer_once_per_thread: true }, 'footer_once_per_thread'],
    [{ addresses: [{ address: 'a*@b.test' }] }, 'addresses[0].address'],
    [{ addresses: [{ address: 'a@b.test' }, { address: 'A@b.test' }] }, 'addresses[1]'],
    [{ addresses: [{ address: 'neu@firma.test' }] }, 'addresses[0]'],
  ])('are checked when the account is stored: %j', async (fields, place) => {
    const answer = await ask('/api/accounts', { id: 'neu', from: 'neu@firma.test', ...fields });
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_account' } });
    expect(String(answer.json['message'])).toContain(place);
  });

  it('are shown as they were given, and given back they change nothing', async () => {
    const settings = {
      addresses: [
        { address: '*@neu.test', name: 'N', reply_to: null, signature_text: 'S', signature_html: null },
      ],
      signature_text: '{{ author.name }}',
      footer_text: 'F',
      footer_once_per_thread: true,
    };
    const made = await ask('/api/accounts', { id: 'neu', from: 'neu@firma.test', ...settings });
    expect(made.json).toMatchObject({ version: 1, settings });
    const again = await ask('/api/accounts/neu', settings, undefined, 'PATCH');
    expect(again.json).toMatchObject({ version: 1, settings });
    expect(fromOf(await send({ from: 'y@neu.test' }).then(() => send({ account_id: 'sales' })))).toContain(
      'sales@',
    );
  });
});
