/** Thread-Index and Thread-Topic, by which Outlook groups a conversation. */
import { randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeEncodedWords } from '../../src/core/mime/text/encoded-word.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { sendJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

let running: RunningService & { readonly sink: SmtpSink };

beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const GUID = '4696a637e92446a36574d21f90b594b1';
const FROM_EXCHANGE = Buffer.from(`0101dca972ee${GUID}`, 'hex').toString('base64');
const HEADER_CHARS = 44;

const send = (fields: object = {}) =>
  sendJson(running.service, { to: 'ann@example.com', subject: 'Angebot', text_body: 'Hallo', ...fields });

async function sentFields(messageId: string): Promise<{ readonly index: string; readonly topic: string }> {
  const raw = running.sink.byMessageId(messageId)[0]?.raw ?? Buffer.alloc(0);
  const { headers } = await simpleParser(raw);
  const index = Buffer.from(String(headers.get('thread-index')), 'base64').toString('hex');
  return { index, topic: decodeEncodedWords(String(headers.get('thread-topic')).split(' ')) };
}

const fieldsOf = async (fields: object) => sentFields((await send(fields)).messageId);

it('a new conversation begins an index, and its answers continue it', async () => {
  const first = await send();
  const { index, topic } = await sentFields(first.messageId);
  expect(index).toMatch(/^0101[0-9a-f]{40}$/);
  expect(topic).toBe('Angebot');
  const answer = await fieldsOf({ thread_id: first.threadId, subject: 'AW: WG: Angebot für Ödön' });
  expect(answer.index).toMatch(new RegExp(`^${index}[0-9a-f]{10}$`));
  expect(answer.topic).toBe('Angebot für Ödön');
  const second = await fieldsOf({ in_reply_to: first.messageId });
  expect(second.index).toMatch(new RegExp(`^${index}[0-9a-f]{10}$`));
});

it('an answer continues the index of the received email, also through a reply', async () => {
  const folded = `Thread-Index: ${FROM_EXCHANGE.slice(0, 8)}\r\n\t${FROM_EXCHANGE.slice(8)}`;
  const { messageId, threadId, id } = await receive(running.service, mail({ headers: [folded] }));
  for (const fields of [{ in_reply_to: messageId }, { thread_id: threadId }]) {
    const { index } = await fieldsOf(fields);
    expect(index.slice(0, HEADER_CHARS)).toBe(`0101dca972ee${GUID}`);
  }
  const response = await running.service.request(`/api/emails/${id}/reply`, { json: { text_body: 'Gerne' } });
  const reply = (await response.json()) as { messageId: string };
  expect((await sentFields(reply.messageId)).index).toMatch(new RegExp(`^0101dca972ee${GUID}[0-9a-f]{10}$`));
});

it('answers in a thread without one have the GUID of the thread', async () => {
  const { messageId, threadId } = await receive(running.service, mail());
  const [one, two] = [await fieldsOf({ in_reply_to: messageId }), await fieldsOf({ in_reply_to: messageId })];
  expect(one.index).toHaveLength(HEADER_CHARS);
  expect(one.index.slice(12)).toBe(two.index.slice(12));
  const elsewhere = await send();
  expect((await sentFields(elsewhere.messageId)).index.slice(12)).not.toBe(one.index.slice(12));
  expect(elsewhere.threadId).not.toBe(threadId);
});

it.each([
  ['garbage', 'not Base64 at all!'],
  ['10 kB', 'A'.repeat(10_000)],
  ['a long one of the right kind', Buffer.from(`01${'00'.repeat(7000)}`, 'hex').toString('base64')],
  ['8-bit text', 'Ärger'.repeat(100)],
  ['nothing', ''],
])('a received index that is %s does no harm', async (_name, value) => {
  const subject = randomUUID();
  const { messageId } = await receive(
    running.service,
    mail({ subject, headers: [`Thread-Index: ${value}`, `Thread-Index: ${value}`] }),
  );
  const sent = await send({ in_reply_to: messageId, subject });
  const raw = running.sink.byMessageId(sent.messageId)[0]?.raw.toString('latin1') ?? '';
  expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThan(998);
  expect((await sentFields(sent.messageId)).index).toMatch(/^01/);
  const rows = await query(
    running.database.connectionString,
    `select octet_length(thread_index) as bytes from emails where subject = '${subject}' and thread_index is not null`,
  );
  for (const { bytes } of rows) expect(Number(bytes)).toBeLessThanOrEqual(522);
});
