/**
 * Whether the events of an operation name the key that called it. Each operation that writes is in the list below; one that is in it without
 * a call has no events, or events without an author, for the reason that is given.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { invitationMail } from '../helpers/invitation-mail.ts';
import { getJson, sendJson, startServiceWithSink, type SentResult } from '../helpers/running-service.ts';

interface EventJson {
  readonly id: string;
  readonly type: string;
  readonly author: { readonly id: string; readonly name: string } | null;
}

type Call = (target: string, init?: RequestInit & { json?: unknown }) => Promise<Record<string, unknown>>;
/** What the operation acts on. */
type Prepare = () => Promise<Readonly<Record<string, string>>>;
type Act = (call: Call, on: Readonly<Record<string, string>>) => Promise<unknown>;

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let key: { readonly id: string; readonly name: string; readonly secret: string };
beforeAll(async () => {
  running = await startServiceWithSink({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  const rights = ['read', 'draft', 'send', 'receive', 'operate', 'admin'];
  const made = await asSecret('/api/keys', { json: { name: 'CRM', rights, account_ids: '*' } });
  key = { id: (made['key'] as { id: string }).id, name: 'CRM', secret: String(made['secret']) };
});
afterAll(() => running.end());

const callWith =
  (headers: () => Readonly<Record<string, string>>): Call =>
  async (target, init = {}) => {
    const response = await running.service.request(target, {
      ...init,
      headers: { ...headers(), ...(init.headers as Readonly<Record<string, string>> | undefined) },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
const asSecret = callWith(() => ({}));
const asKey = callWith(() => ({ authorization: `Bearer ${key.secret}` }));

const SEND = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };
/** Not sent while the test runs. */
const LATER = { send_at: new Date(Date.now() + 86_400_000).toISOString() };
const post = (path: string, json: unknown = {}) => [path, { json }] as const;

const nothing: Prepare = async () => ({});
const sent: Prepare = async () => ofSend(await sendJson(running.service, SEND));
const ofSend = ({ id, threadId }: SentResult) => ({ email: id, thread: threadId });
const queued: Prepare = async () => {
  const { id, threadId } = await asSecret('/api/send', { json: { ...SEND, ...LATER } });
  return { email: String(id), thread: String(threadId) };
};
const received: Prepare = async () => {
  const { id, threadId } = await receive(running.service, mail({ from: 'bea@customer.test' }));
  return { email: id, thread: threadId };
};
const invited: Prepare = async () => ({ email: (await receive(running.service, invitationMail())).id });
const conversation: Prepare = async () => {
  const first = await sendJson(running.service, SEND);
  const second = await sendJson(running.service, { ...SEND, thread_id: first.threadId });
  const other = await sendJson(running.service, SEND);
  return { thread: first.threadId, email: second.id, other: other.threadId };
};
const draft: Prepare = async () => ({
  draft: String((await asSecret('/api/drafts', { json: { message: SEND } }))['id']),
});
const account: Prepare = async () => {
  const id = `a${randomUUID()}`;
  await asSecret(...post('/api/accounts', { id, from: 'support@example.com' }));
  return { account: id };
};
const webhook: Prepare = async () => {
  const made = await asSecret('/api/webhooks', { json: { url: 'http://127.0.0.1:9/' } });
  return { webhook: (made['webhook'] as { id: string }).id };
};
const pausedWebhook: Prepare = async () => {
  const on = await webhook();
  await asSecret(...post(`/api/webhooks/${on['webhook']}/pause`));
  return on;
};
const suppressed: Prepare = async () => {
  const address = `${randomUUID()}@customer.test`;
  await asSecret(`/api/suppressions/${address}`, { method: 'PUT', json: {} });
  return { address };
};
const FIRST = { headers: { 'if-match': '"1"' } };

/** Operations whose events name the key: the types that must be among them. */
const NAMED: Readonly<Record<string, readonly [types: readonly string[], prepare: Prepare, act: Act]>> = {
  sendEmail: [['thread.created', 'email.sent'], nothing, (call) => call(...post('/api/send', SEND))],
  sendBatch: [['email.sent'], nothing, (call) => call(...post('/api/send/batch', { emails: [SEND] }))],
  replyToEmail: [
    ['email.sent'],
    received,
    (call, { email }) => call(...post(`/api/emails/${email}/reply`, { text_body: 'x' })),
  ],
  replyToAll: [
    ['email.sent'],
    received,
    (call, { email }) => call(...post(`/api/emails/${email}/reply-all`, { text_body: 'x' })),
  ],
  answerInvitation: [
    ['email.sent'],
    invited,
    (call, { email }) => call(...post(`/api/emails/${email}/invitation-answer`, { answer: 'accepted' })),
  ],
  forwardEmail: [
    ['email.sent'],
    received,
    (call, { email }) => call(...post(`/api/emails/${email}/forward`, { to: SEND.to, text_body: 'x' })),
  ],
  createDraft: [['draft.created'], nothing, (call) => call(...post('/api/drafts', { message: SEND }))],
  changeDraft: [
    ['draft.changed'],
    draft,
    (call, { draft: id }) =>
      call(`/api/drafts/${id}`, { method: 'PATCH', json: { message: { subject: 'x' } }, ...FIRST }),
  ],
  deleteDraft: [
    ['draft.deleted'],
    draft,
    (call, { draft: id }) => call(`/api/drafts/${id}`, { method: 'DELETE' }),
  ],
  sendDraft: [
    ['draft.sent', 'email.sent'],
    draft,
    (call, { draft: id }) => call(...post(`/api/drafts/${id}/send`)),
  ],
  cancelSend: [
    ['email.cancelled'],
    queued,
    (call, { email }) => call(...post(`/api/emails/${email}/cancel`)),
  ],
  changeSend: [
    ['email.updated'],
    queued,
    (call, { email }) =>
      call(`/api/emails/${email}`, { method: 'PATCH', json: { subject: 'Changed' }, ...FIRST }),
  ],
  deleteEmail: [
    ['email.deleted'],
    sent,
    (call, { email }) => call(`/api/emails/${email}`, { method: 'DELETE' }),
  ],
  deleteThread: [
    ['email.deleted'],
    sent,
    (call, { thread }) => call(`/api/threads/${thread}`, { method: 'DELETE' }),
  ],
  deleteThreads: [
    ['email.deleted'],
    sent,
    (call, { thread }) => call(`/api/threads?ids=${thread}`, { method: 'DELETE' }),
  ],
  markThreadRead: [
    ['email.updated'],
    received,
    (call, { thread }) => call(...post(`/api/thread/${thread}/read`)),
  ],
  markThreadUnread: [
    ['email.updated'],
    async () => {
      const on = await received();
      await asSecret(...post(`/api/thread/${on['thread']}/read`));
      return on;
    },
    (call, { thread }) => call(...post(`/api/thread/${thread}/unread`)),
  ],
  changeThread: [
    ['thread.updated'],
    sent,
    (call, { thread }) => call(`/api/threads/${thread}`, { method: 'PATCH', json: { status: 'open' } }),
  ],
  changeThreads: [
    ['email.updated', 'thread.updated'],
    received,
    (call, { thread }) =>
      call(`/api/threads?ids=${thread}`, { method: 'PATCH', json: { status: 'done', unread: false } }),
  ],
  splitThread: [
    ['thread.split'],
    conversation,
    (call, { thread, email }) => call(...post(`/api/thread/${thread}/split`, { email_ids: [email] })),
  ],
  mergeThreads: [
    ['thread.merged'],
    conversation,
    (call, { thread, other }) => call(...post(`/api/thread/${thread}/merge`, { thread_id: other })),
  ],
  moveEmails: [
    ['email.updated'],
    conversation,
    (call, { other, email }) => call(...post(`/api/thread/${other}/move`, { email_ids: [email] })),
  ],
  suppress: [
    ['suppression.added'],
    nothing,
    (call) => call(`/api/suppressions/${randomUUID()}@customer.test`, { method: 'PUT', json: {} }),
  ],
  liftSuppression: [
    ['suppression.lifted'],
    suppressed,
    (call, { address }) => call(`/api/suppressions/${address}`, { method: 'DELETE' }),
  ],
  putCustomerAddresses: [
    ['customer.linked'],
    async () => {
      const address = `${randomUUID()}@customer.test`;
      await receive(running.service, mail({ from: address }));
      return { address };
    },
    (call, { address }) =>
      call(`/api/customer/${randomUUID()}/addresses`, {
        method: 'PUT',
        json: { addresses: [address], domains: [] },
      }),
  ],
  addCustomerAddress: [
    ['customer.linked'],
    async () => {
      const address = `${randomUUID()}@customer.test`;
      await receive(running.service, mail({ from: address }));
      return { address };
    },
    (call, { address }) => call(...post(`/api/customer/${randomUUID()}/addresses`, { address })),
  ],
  removeCustomerAddress: [
    ['customer.unlinked'],
    async () => {
      const [customer, address] = [randomUUID(), `${randomUUID()}@customer.test`];
      await receive(running.service, mail({ from: address }));
      await asSecret(...post(`/api/customer/${customer}/addresses`, { address }));
      return { customer, address };
    },
    (call, { customer, address }) =>
      call(`/api/customer/${customer}/addresses/${address}`, { method: 'DELETE' }),
  ],
  pauseAccount: [
    ['account.paused'],
    account,
    (call, { account: id }) => call(...post(`/api/accounts/${id}/pause`)),
  ],
  resumeAccount: [
    ['account.resumed'],
    async () => {
      const on = await account();
      await asSecret(...post(`/api/accounts/${on['account']}/pause`));
      return on;
    },
    (call, { account: id }) => call(...post(`/api/accounts/${id}/resume`)),
  ],
  pauseWebhook: [
    ['webhook.paused'],
    webhook,
    (call, { webhook: id }) => call(...post(`/api/webhooks/${id}/pause`)),
  ],
  resumeWebhook: [
    ['webhook.resumed'],
    pausedWebhook,
    (call, { webhook: id }) => call(...post(`/api/webhooks/${id}/resume`)),
  ],
};

/** The reason why no event of the operation names a key. */
const UNNAMED: Readonly<Record<string, string>> = {
  retrySend:
    'its events are those of the hand-over, which name the author of the email; email.updated follows it',
  resolveSend:
    'its email must be unknown: threads.test.ts of the model has it; its event names the key as cancelSend does',
  receiveEmail: 'another person wrote the email, whichever program brought it',
  retryQuarantined: 'its message is read later, and another person wrote it',
  retrySentCopy: 'the copy in the mailbox is no event',
  removeUnsubscribe: 'no event: the audit log names the key',
  erasePerson:
    'runs in the background and leaves events without persons; the audit log and requested_by name the key',
  confirmClock: 'no event: the audit log names the key',
  confirmRetention: 'retention deletes later and by itself; the audit log names the key',
  blockSender: 'no event: the audit log names the key',
  unblockSender: 'no event: the audit log names the key',
  createRule: 'no event: the audit log names the key',
  changeRule: 'no event: the audit log names the key',
  deleteRule: 'no event: the audit log names the key',
  orderRules: 'no event: the audit log names the key',
  previewRule: 'writes nothing',
  createTemplate: 'templates have no events',
  changeTemplate: 'templates have no events',
  deleteTemplate: 'templates have no events',
  previewTemplate: 'writes nothing',
  createUpload: 'files have no events',
  createAccount: 'accounts.test.ts has the event of its mailboxes, which names the key',
  checkAccount: 'writes nothing',
  changeAccount: 'its event is that of other mailboxes, and names the key as that of createAccount does',
  deleteAccount: 'no event: the audit log names the key',
  requestConsent: 'no event: the audit log names the key',
  resyncAccount: 'no event: the audit log names the key',
  previewCapture: 'writes nothing',
  removeLeftOut: 'removes in the background; capture.test.ts has its events, which name the key',
  stopRemoval: 'capture.test.ts has its event, which names the key',
  createWebhook: 'no event: the audit log names the key',
  changeWebhook: 'no event: the audit log names the key',
  deleteWebhook: 'no event: the audit log names the key',
  replayWebhook: 'no event: the audit log names the key',
  rotateWebhookSecret: 'no event: the audit log names the key',
  testWebhook: 'writes nothing but a delivery',
  createKey: 'no event: the audit log names the key',
  changeKey: 'no event: the audit log names the key',
  revokeKey: 'no event: the audit log names the key',
  rotateKey: 'no event: the audit log names the key',
  openSession: 'no event: the audit log names the key',
  endSession: 'no event: the audit log names the key',
  endOneSession: 'no event: the audit log names the key',
  endSessions: 'no event: the audit log names the key',
};

/** The events since `after`, up to a marker that is written now. */
async function eventsSince(
  after: string,
): Promise<{ readonly events: readonly EventJson[]; readonly next: string }> {
  const address = `${randomUUID()}@marker.test`;
  await asSecret(`/api/suppressions/${address}`, { method: 'PUT', json: {} });
  const events: EventJson[] = [];
  let next = after;
  for (;;) {
    const page = await getJson<{
      events: readonly (EventJson & { data: { address?: string } })[];
      next: string;
    }>(running.service, `/api/events?after=${next}&wait=5`);
    next = page.next;
    const own = page.events.filter(({ data }) => data.address !== address);
    events.push(...own);
    if (own.length < page.events.length) return { events, next };
  }
}

it('has a decision for each operation that writes', async () => {
  const { paths } = await getJson<{ paths: Record<string, Record<string, { operationId: string }>> }>(
    running.service,
    '/api/openapi.json',
  );
  const writing = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId }]) => (method === 'get' ? [] : [operationId])),
  );
  expect([...Object.keys(NAMED), ...Object.keys(UNNAMED)].toSorted()).toEqual(writing.toSorted());
});

it.each(Object.entries(NAMED))(
  '%s names the key that called it in each of its events',
  async (_id, [types, prepare, act]) => {
    const on = await prepare();
    const { id } = await getJson<{ id: string }>(running.service, '/api/events/latest');
    const { next } = await eventsSince(id);
    await act(asKey, on);
    const { events } = await eventsSince(next);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining([...types]));
    expect(events.filter(({ author }) => author?.id !== key.id)).toEqual([]);
  },
);
