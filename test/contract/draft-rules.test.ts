/** A draft keeps nothing that its send would refuse whatever else is written later; the rules are those of a send. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let emailId: string;
beforeAll(async () => {
  running = await startServiceWithSink();
  ({ id: emailId } = await receive(running.service, mail({ from: 'ann@customer.test' })));
});
afterAll(() => running.end());

interface Answer {
  readonly status: number;
  readonly id?: string;
  readonly code?: string;
  readonly error?: string;
}

async function ask(method: string, path: string, json: unknown, version?: number): Promise<Answer> {
  const response = await running.service.request(path, {
    method,
    json,
    ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
  });
  return { ...((await response.json()) as object), status: response.status };
}
const create = (json: unknown) => ask('POST', '/api/drafts', json);
const SEND = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };

describe('a draft', () => {
  it.each([
    [{ subject: 'a\0' }, 'subject'],
    [{ text_body: 'a\0b' }, 'text_body'],
    [{ html_body: '\ud800' }, 'html_body'],
    [{ to: ['a\udc00@customer.test'] }, 'to[0]'],
    [{ from_name: 'A\ud800' }, 'from_name'],
    [{ in_reply_to: '<a\0@customer.test>' }, 'in_reply_to'],
    [{ metadata: { a: { b: 'x\0' } } }, 'metadata.a.b'],
    [{ template_id: randomUUID(), variables: { a: ['\ud800'] } }, 'variables.a[0]'],
    [{ tags: ['\ud800'] }, 'tags[0]'],
    [{ headers: { 'X-A': 'a\0' } }, 'headers.X-A'],
  ])('refuses text that can not be stored as a send does, when it is written: %j', async (fields, field) => {
    const { length } = running.sink.messages;
    const sent = await ask('POST', '/api/send', { ...SEND, ...fields });
    expect(sent).toMatchObject({ status: 400, code: 'invalid_text' });
    expect(sent.error).toContain(field);
    const drafted = await create({ message: fields });
    expect(drafted).toMatchObject({ status: 400, code: 'invalid_text' });
    expect(drafted.error).toContain(`message.${field}`);
    const reply = await ask('POST', `/api/emails/${emailId}/forward`, {
      to: SEND.to,
      text_body: 'x',
      ...fields,
    });
    expect(reply.status).toBe(400);
    expect(running.sink.messages).toHaveLength(length);
  });

  it.each([
    [{ headers: { From: 'x@y.test' } }, 'header_not_allowed'],
    [{ headers: { 'X-A': 'a\r\nBcc: b@y.test' } }, 'header_injection'],
    [{ headers: { 'X-A': 'a', 'x-a': 'b' } }, 'duplicate_field'],
    [{ tags: ['a b'] }, 'invalid_tag'],
    [{ metadata: { a: 'x'.repeat(5000) } }, 'metadata_too_large'],
    [{ subject: 'a\nb' }, 'header_injection'],
    [{ from_name: 'a\nb' }, 'header_injection'],
    [{ in_reply_to: 'foo' }, 'invalid_message_id'],
    [{ account_id: 'gone' }, 'unknown_account'],
  ])('refuses what no send accepts, when it is written: %j', async (fields, code) => {
    expect(await ask('POST', '/api/send', { ...SEND, ...fields })).toMatchObject({ status: 400, code });
    expect(await create({ message: fields })).toMatchObject({ status: 400, code });
    const made = await create({ message: { subject: 'x' } });
    expect(await ask('PATCH', `/api/drafts/${made.id}`, { message: fields }, 1)).toMatchObject({
      status: 400,
      code,
    });
  });

  it('keeps addresses that are not finished, and a time that may pass', async () => {
    const message = { to: 'ann', cc: ['bob@'], send_at: '2020-01-01T00:00:00Z' };
    expect(await create({ message })).toMatchObject({ status: 201 });
  });

  it('has the same version after its files are given back as they are', async () => {
    const files = ['a', 'b'].map((name) => ({ filename: `${name}.txt`, content: 'YWJj' }));
    const made = await create({ attachments: files });
    const ids = (made as { attachments?: readonly { id: string }[] }).attachments!.map(({ id }) => ({ id }));
    const patch = (attachments: unknown) => ask('PATCH', `/api/drafts/${made.id}`, { attachments }, 1);
    expect(await patch(ids)).toMatchObject({ status: 200, version: 1 });
    expect(await patch(ids.toReversed())).toMatchObject({ status: 200, version: 2 });
  });

  it.each([
    ['account_id', 'default'],
    ['thread_id', randomUUID()],
    ['in_reply_to', '<a@customer.test>'],
  ])(
    'of an answer refuses %s, which the answered email determines, also when one of both comes later',
    async (field, value) => {
      const answers = { email_id: emailId };
      const refused = {
        status: 400,
        code: 'invalid_request',
        error: expect.stringContaining(`message.${field} `) as string,
      };
      expect(await create({ answers, message: { [field]: value } })).toMatchObject(refused);
      const withField = await create({ message: { [field]: value } });
      expect(await ask('PATCH', `/api/drafts/${withField.id}`, { answers }, 1)).toMatchObject(refused);
      const withAnswers = await create({ answers });
      const later = { message: { [field]: value } };
      expect(await ask('PATCH', `/api/drafts/${withAnswers.id}`, later, 1)).toMatchObject(refused);
      const both = { answers, message: { [field]: null } };
      expect(await ask('PATCH', `/api/drafts/${withField.id}`, both, 1)).toMatchObject({ status: 200 });
    },
  );

  it.each([
    ['variables', { name: 'Ann' }],
    ['template_version', 2],
  ])('refuses %s without a template, also when the template is taken away later', async (field, value) => {
    const refused = {
      status: 400,
      code: 'invalid_request',
      error: expect.stringContaining(`message.${field} `) as string,
    };
    expect(await create({ message: { [field]: value } })).toMatchObject(refused);
    const made = await create({ message: { template_id: randomUUID(), [field]: value } });
    expect(made.status).toBe(201);
    const without = { message: { template_id: null } };
    expect(await ask('PATCH', `/api/drafts/${made.id}`, without, 1)).toMatchObject(refused);
  });

  it.each([
    [{ with_files: true }, 'answers.with_files'],
    [{ kind: 'reply_all', with_files: false }, 'answers.with_files'],
    [{ quote: false, language: 'en' }, 'answers.language'],
    [{ quote: false, time_zone: 'Europe/Berlin' }, 'answers.time_zone'],
    [{ kind: 'forward', quote: false, language: 'de' }, 'answers.language'],
    [{ language: 'xx' }, 'answers.language'],
  ])('refuses what has no effect on its answer: %j', async (fields, field) => {
    const refused = await create({ answers: { email_id: emailId, ...fields } });
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(refused.error).toContain(`${field} `);
  });

  it('gives back what its answer is, and changes nothing by it', async () => {
    for (const fields of [
      {},
      { quote: false },
      { kind: 'forward' },
      { kind: 'forward', quote: false, with_files: false },
    ]) {
      const made = await create({ answers: { email_id: emailId, ...fields } });
      const { answers } = made as { answers?: unknown };
      expect(await ask('PATCH', `/api/drafts/${made.id}`, { answers }, 1)).toMatchObject({
        status: 200,
        version: 1,
        answers,
      });
    }
  });
});

it.each([
  ['reply', 'language', 'en'],
  ['reply-all', 'time_zone', 'UTC'],
  ['forward', 'language', 'de'],
])('a %s without a quote refuses %s', async (kind, field, value) => {
  const { length } = running.sink.messages;
  const json = {
    ...(kind === 'forward' ? { to: SEND.to } : {}),
    text_body: 'x',
    quote: false,
    [field]: value,
  };
  const refused = await ask('POST', `/api/emails/${emailId}/${kind}`, json);
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(refused.error).toContain(`${field} `);
  expect(running.sink.messages).toHaveLength(length);
});
