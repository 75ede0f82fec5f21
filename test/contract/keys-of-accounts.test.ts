/** Keys limited to some accounts: what they see and change of other accounts, for every operation. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import {
  codeOf,
  isLacking,
  later,
  SINGLE_RIGHTS,
  sendBody,
  useKeyService,
  type Expected,
  type Json,
  type MadeKey,
} from '../helpers/key-service.ts';
import { query } from '../helpers/query.ts';

const keys = useKeyService();
const { ask, makeKey, operations } = keys;

/** Objects of the account that the key does not see. */
interface Others {
  readonly thread: string;
  readonly otherThread: string;
  readonly email: string;
  readonly queued: string;
  readonly attachment: string;
  readonly quarantined: string;
  readonly webhook: string;
  readonly wholeWebhook: string;
  readonly key: string;
  readonly draft: string;
  readonly draftFile: string;
  readonly unsubscribe: string;
  readonly blocked: string;
  readonly wholeBlocked: string;
  readonly rule: string;
  readonly wholeRule: string;
  readonly template: string;
  readonly wholeTemplate: string;
  readonly customer: string;
}

/** The answer to a request of the key about objects of the other account; `lists`: 200 without any of them. */
type Check = readonly [target: string, init: RequestInit & { json?: unknown }, expected: Expected | 'lists'];

const GET = {};
const POST = { method: 'POST' };
const THREAD: Expected = [404, 'thread_not_found'];
const EMAIL: Expected = [404, 'email_not_found'];
const VARIANT: Expected = [404, 'variant_not_found'];
const WEBHOOK: Expected = [404, 'webhook_not_found'];
const ACCOUNT: Expected = [404, 'account_not_found'];
const KEY: Expected = [404, 'key_not_found'];
const ATTACHMENT: Expected = [404, 'attachment_not_found'];
const DRAFT: Expected = [404, 'draft_not_found'];
const TEMPLATE: Expected = [404, 'template_not_found'];
const BLOCKED: Expected = [404, 'blocked_sender_not_found'];
const RULE: Expected = [404, 'rule_not_found'];
const REFUSED: Expected = [403, 'forbidden_account'];
const FORBIDDEN: Expected = [403, 'forbidden_right'];
const UNKNOWN: Expected = [400, 'unknown_account'];

const rule = (accounts: '*' | readonly string[]) => ({
  name: 'geheim',
  account_ids: accounts,
  // No mail of the other tests is of this sender.
  conditions: [{ sender: 'nobody@nowhere.test' }],
  actions: {},
});

/** Checks by operation; null: the operation concerns no account. */
const CHECKS: Readonly<Record<string, ((others: Others) => readonly Check[]) | null>> = {
  getHealth: null,
  getReadiness: null,
  getOpenApiDocument: null,
  getLatestEvent: null,
  // Concerns the key itself.
  openSession: null,
  getSession: null,
  endSession: null,
  endSessions: null,
  listSessions: null,
  endOneSession: null,
  getThread: ({ thread }) => [[`/api/thread/${thread}`, GET, THREAD]],
  getThreadPage: ({ thread }) => [[`/api/threads/${thread}`, GET, THREAD]],
  changeThread: ({ thread }) => [
    [`/api/threads/${thread}`, { method: 'PATCH', json: { status: 'done' } }, THREAD],
  ],
  // Their ids are in many-threads.test.ts: an answer repeats them.
  changeThreads: () => [
    ['/api/threads?label=Vertrag', { method: 'PATCH', json: { add_labels: ['x'] } }, 'lists'],
  ],
  getSafeHtml: ({ email }) => [[`/api/emails/${email}/html`, GET, EMAIL]],
  // Its signature is the permission.
  getImage: null,
  listThreads: () => [
    ['/api/threads', GET, 'lists'],
    ['/api/threads?q=geheim', GET, 'lists'],
    ['/api/threads?account_id=support', GET, UNKNOWN],
  ],
  listUnsubscribes: () => [
    ['/api/unsubscribes', GET, 'lists'],
    ['/api/unsubscribes?account_id=support', GET, UNKNOWN],
  ],
  removeUnsubscribe: ({ unsubscribe }) => [
    [`/api/unsubscribes/${unsubscribe}`, { method: 'DELETE' }, [404, 'unsubscribe_not_found']],
  ],
  listAssignees: () => [
    ['/api/assignees', GET, 'lists'],
    ['/api/assignees?account_id=support', GET, UNKNOWN],
  ],
  countFolders: () => [
    ['/api/folders', GET, 'lists'],
    ['/api/folders?account_id=support', GET, UNKNOWN],
  ],
  markThreadRead: ({ thread }) => [[`/api/thread/${thread}/read`, POST, THREAD]],
  markThreadUnread: ({ thread }) => [[`/api/thread/${thread}/unread`, POST, THREAD]],
  splitThread: ({ thread, email }) => [
    [`/api/thread/${thread}/split`, { json: { email_ids: [email] } }, THREAD],
    [`/api/thread/OWN/split`, { json: { email_ids: [email] } }, EMAIL],
  ],
  mergeThreads: ({ thread }) => [
    [`/api/thread/${thread}/merge`, { json: { thread_id: 'OWN' } }, THREAD],
    [`/api/thread/OWN/merge`, { json: { thread_id: thread } }, THREAD],
    [`/api/thread/OWN/merge?dry_run=true`, { json: { thread_id: thread } }, THREAD],
  ],
  moveEmails: ({ thread, email }) => [
    [`/api/thread/${thread}/move`, { json: { email_ids: [email] } }, THREAD],
    [`/api/thread/OWN/move`, { json: { email_ids: [email] } }, EMAIL],
  ],
  listRefusedMerges: () => [
    ['/api/refused-merges', GET, 'lists'],
    ['/api/refused-merges?account_id=support', GET, UNKNOWN],
  ],
  explainPlacement: ({ email }) => [[`/api/emails/${email}/placement`, GET, EMAIL]],
  getEmail: ({ email }) => [[`/api/emails/${email}`, GET, EMAIL]],
  getRawEmail: ({ email }) => [[`/api/emails/${email}/raw`, GET, EMAIL]],
  getVariant: ({ email }) => [[`/api/emails/${email}/variants/${randomUUID()}`, GET, VARIANT]],
  getRawVariant: ({ email }) => [[`/api/emails/${email}/variants/${randomUUID()}/raw`, GET, VARIANT]],
  getAttachment: ({ attachment }) => [[`/api/attachments/${attachment}`, GET, ATTACHMENT]],
  listEmails: () => [
    ['/api/emails', GET, 'lists'],
    ['/api/emails?q=geheim', GET, 'lists'],
    ['/api/emails?state=queued', GET, 'lists'],
    ['/api/emails?account_id=support', GET, UNKNOWN],
  ],
  listCustomerEmails: ({ customer }) => [[`/api/customer/${customer}/emails`, GET, 'lists']],
  completeAddresses: () => [
    ['/api/addresses', GET, 'lists'],
    ['/api/addresses?q=ada', GET, 'lists'],
    ['/api/addresses?account_id=support', GET, UNKNOWN],
  ],
  getCustomer: ({ customer }) => [[`/api/customer/${customer}`, GET, 'lists']],
  listCustomers: () => [
    ['/api/customers', GET, 'lists'],
    ['/api/customers?q=eve', GET, 'lists'],
  ],
  getCustomerAddresses: ({ customer }) => [[`/api/customer/${customer}/addresses`, GET, REFUSED]],
  putCustomerAddresses: ({ customer }) => [
    [
      `/api/customer/${customer}/addresses`,
      { method: 'PUT', json: { addresses: ['eve@customer.test'], domains: [] } },
      REFUSED,
    ],
  ],
  addCustomerAddress: ({ customer }) => [
    [`/api/customer/${customer}/addresses`, { json: { address: 'eve@customer.test' } }, REFUSED],
  ],
  removeCustomerAddress: ({ customer }) => [
    [`/api/customer/${customer}/addresses/eve@customer.test`, { method: 'DELETE' }, REFUSED],
  ],
  listAmbiguousClaims: () => [['/api/customers/ambiguous', GET, REFUSED]],
  listAmbiguousEmails: () => [['/api/customers/ambiguous/emails', GET, REFUSED]],
  listSuppressions: () => [['/api/suppressions', GET, REFUSED]],
  getSuppression: () => [['/api/suppressions/eve@customer.test', GET, REFUSED]],
  suppress: () => [['/api/suppressions/eve@customer.test', { method: 'PUT', json: {} }, REFUSED]],
  liftSuppression: () => [['/api/suppressions/eve@customer.test', { method: 'DELETE' }, REFUSED]],
  sendEmail: ({ thread, attachment, template }) => [
    ['/api/send', { json: sendBody({ account_id: 'support' }) }, UNKNOWN],
    ['/api/send', { json: sendBody({ thread_id: thread }) }, THREAD],
    [
      '/api/send',
      { json: sendBody({ thread_id: thread }), headers: { 'idempotency-key': randomUUID() } },
      THREAD,
    ],
    ['/api/send', { json: sendBody({ attachments: [{ attachment_id: attachment }] }) }, ATTACHMENT],
    ['/api/send', { json: sendBody({ template_id: template }) }, TEMPLATE],
  ],
  sendBatch: ({ thread, attachment }) => [
    [
      '/api/send/batch',
      {
        json: {
          emails: [
            sendBody({ account_id: 'support' }),
            sendBody({ thread_id: thread }),
            sendBody({ attachments: [{ attachment_id: attachment }] }),
          ],
        },
      },
      'lists',
    ],
  ],
  createUpload: () => [
    [
      '/api/uploads?filename=a&account_id=support',
      { ...POST, body: 'a', headers: { 'content-type': 'application/octet-stream' } },
      UNKNOWN,
    ],
  ],
  createDraft: ({ thread, email, attachment }) => [
    ['/api/drafts', { json: { message: { account_id: 'support' } } }, UNKNOWN],
    ['/api/drafts', { json: { message: { thread_id: thread } } }, THREAD],
    ['/api/drafts', { json: { answers: { email_id: email } } }, EMAIL],
    ['/api/drafts', { json: { attachments: [{ attachment_id: attachment }] } }, ATTACHMENT],
  ],
  listDrafts: ({ thread }) => [
    ['/api/drafts', GET, 'lists'],
    [`/api/drafts?thread_id=${thread}`, GET, 'lists'],
    ['/api/drafts?account_id=support', GET, UNKNOWN],
  ],
  getDraft: ({ draft }) => [[`/api/drafts/${draft}`, GET, DRAFT]],
  getDraftAttachment: ({ draft, draftFile }) => [
    [`/api/drafts/${draft}/attachments/${draftFile}`, GET, [404, 'draft_file_not_found']],
  ],
  changeDraft: ({ draft }) => [
    [`/api/drafts/${draft}`, { method: 'PATCH', json: {}, headers: { 'if-match': '"1"' } }, DRAFT],
  ],
  deleteDraft: ({ draft }) => [[`/api/drafts/${draft}`, { method: 'DELETE' }, DRAFT]],
  sendDraft: ({ draft }) => [
    [`/api/drafts/${draft}/send`, POST, DRAFT],
    [`/api/drafts/${draft}/send`, { ...POST, headers: { 'if-match': '"1"' } }, DRAFT],
  ],
  listBlockedSenders: () => [
    ['/api/blocked-senders', GET, 'lists'],
    ['/api/blocked-senders?account_id=support', GET, UNKNOWN],
  ],
  blockSender: () => [
    ['/api/blocked-senders', { json: { sender: 'a@b.test', account_id: 'support' } }, UNKNOWN],
  ],
  unblockSender: ({ blocked, wholeBlocked }) => [
    [`/api/blocked-senders/${blocked}`, { method: 'DELETE' }, BLOCKED],
    [`/api/blocked-senders/${wholeBlocked}`, { method: 'DELETE' }, REFUSED],
  ],
  createRule: () => [
    ['/api/rules', { json: rule(['support']) }, UNKNOWN],
    ['/api/rules', { json: rule('*') }, REFUSED],
  ],
  listRules: () => [['/api/rules', GET, 'lists']],
  orderRules: ({ rule: hidden }) => [
    ['/api/rules/order', { json: { rule_ids: [hidden] } }, [409, 'rules_changed']],
  ],
  previewRule: () => [
    ['/api/rules/preview', { json: { account_ids: '*', conditions: rule('*').conditions } }, 'lists'],
    ['/api/rules/preview', { json: { account_ids: ['support'], conditions: rule('*').conditions } }, UNKNOWN],
  ],
  getRule: ({ rule: hidden, wholeRule }) => [
    [`/api/rules/${hidden}`, GET, RULE],
    [`/api/rules/${wholeRule}`, GET, RULE],
  ],
  changeRule: ({ rule: hidden, wholeRule }) =>
    [hidden, wholeRule].map((id) => [
      `/api/rules/${id}`,
      { method: 'PATCH', json: { name: 'y' }, headers: { 'if-match': '"1"' } },
      RULE,
    ]),
  deleteRule: ({ rule: hidden, wholeRule }) => [
    [`/api/rules/${hidden}`, { method: 'DELETE' }, RULE],
    [`/api/rules/${wholeRule}`, { method: 'DELETE' }, RULE],
  ],
  createTemplate: () => [
    ['/api/templates', { json: { name: 'x', subject: 'x', text_body: 'x', account_id: 'support' } }, UNKNOWN],
  ],
  listTemplates: () => [
    ['/api/templates', GET, 'lists'],
    ['/api/templates?account_id=support', GET, UNKNOWN],
  ],
  getTemplate: ({ template }) => [[`/api/templates/${template}`, GET, TEMPLATE]],
  changeTemplate: ({ template, wholeTemplate }) =>
    [template, wholeTemplate].map((id) => [
      `/api/templates/${id}`,
      { method: 'PATCH', json: { name: 'y' }, headers: { 'if-match': '"1"' } },
      id === template ? TEMPLATE : REFUSED,
    ]),
  deleteTemplate: ({ template, wholeTemplate }) => [
    [`/api/templates/${template}`, { method: 'DELETE' }, TEMPLATE],
    [`/api/templates/${wholeTemplate}`, { method: 'DELETE' }, REFUSED],
  ],
  previewTemplate: ({ template }) => [[`/api/templates/${template}/preview`, POST, TEMPLATE]],
  previewReply: ({ email }) => [[`/api/emails/${email}/reply`, GET, EMAIL]],
  replyToEmail: ({ email }) => [[`/api/emails/${email}/reply`, { json: { text_body: 'x' } }, EMAIL]],
  replyToAll: ({ email }) => [
    [
      `/api/emails/${email}/reply-all`,
      { json: { text_body: 'x' }, headers: { 'idempotency-key': randomUUID() } },
      EMAIL,
    ],
  ],
  answerInvitation: ({ email }) => [
    [`/api/emails/${email}/invitation-answer`, { json: { answer: 'accepted' } }, EMAIL],
  ],
  forwardEmail: ({ email }) => [
    [`/api/emails/${email}/forward`, { json: { to: 'eve@customer.test' } }, EMAIL],
  ],
  erasePerson: () => [['/api/erasures', { json: { address: 'ada@customer.test' } }, REFUSED]],
  getErasure: () => [[`/api/erasures/${randomUUID()}`, GET, REFUSED]],
  getRetention: () => [['/api/retention', GET, REFUSED]],
  confirmRetention: () => [
    ['/api/retention/confirm', { json: { emails: 1 } }, REFUSED],
    ['/api/retention/confirm?dry_run=true', { json: { emails: 1 } }, REFUSED],
  ],
  getClock: () => [['/api/clock', GET, REFUSED]],
  confirmClock: () => [['/api/clock/confirm', { json: {} }, REFUSED]],
  deleteEmail: ({ email }) => [
    [`/api/emails/${email}`, { method: 'DELETE' }, EMAIL],
    [`/api/emails/${email}?dry_run=true`, { method: 'DELETE' }, EMAIL],
  ],
  deleteThread: ({ thread }) => [
    [`/api/threads/${thread}`, { method: 'DELETE' }, THREAD],
    [`/api/threads/${thread}?dry_run=true`, { method: 'DELETE' }, THREAD],
  ],
  deleteThreads: () => [['/api/threads?label=Vertrag', { method: 'DELETE' }, 'lists']],
  changeSend: ({ queued }) => [
    [
      `/api/emails/${queued}`,
      { method: 'PATCH', json: { subject: 'x' }, headers: { 'if-match': '"1"' } },
      EMAIL,
    ],
  ],
  cancelSend: ({ queued }) => [[`/api/emails/${queued}/cancel`, POST, EMAIL]],
  retrySend: ({ queued }) => [[`/api/emails/${queued}/retry`, POST, EMAIL]],
  retrySentCopy: ({ queued }) => [[`/api/emails/${queued}/sent-copy/retry`, POST, EMAIL]],
  resolveSend: ({ queued }) => [[`/api/emails/${queued}/resolve`, { json: { outcome: 'sent' } }, EMAIL]],
  receiveEmail: () => [
    [
      '/api/inbound?account_id=support',
      { ...POST, body: mail(), headers: { 'content-type': 'message/rfc822' } },
      UNKNOWN,
    ],
  ],
  listAccounts: () => [['/api/accounts', GET, 'lists']],
  createAccount: () => [['/api/accounts', { json: { id: 'new', from: 'new@example.com' } }, REFUSED]],
  checkAccount: () => [['/api/accounts/check', { json: { id: 'new', from: 'new@example.com' } }, REFUSED]],
  findAccountSettings: () => [['/api/accounts/settings?address=ann@gmail.com', GET, REFUSED]],
  getAccount: () => [['/api/accounts/support', GET, ACCOUNT]],
  changeAccount: () => [
    [
      '/api/accounts/support',
      { method: 'PATCH', json: { rate_per_day: 1 }, headers: { 'if-match': '"1"' } },
      ACCOUNT,
    ],
  ],
  deleteAccount: () => [['/api/accounts/support', { method: 'DELETE' }, ACCOUNT]],
  pauseAccount: () => [['/api/accounts/support/pause', POST, ACCOUNT]],
  resumeAccount: () => [['/api/accounts/support/resume', POST, ACCOUNT]],
  requestConsent: () => [['/api/accounts/support/consent', POST, ACCOUNT]],
  resyncAccount: () => [['/api/accounts/support/resync', POST, ACCOUNT]],
  previewCapture: () => [['/api/accounts/support/capture/preview', { json: {} }, ACCOUNT]],
  removeLeftOut: () => [
    [
      '/api/accounts/support/capture/removal',
      { json: { emails: 1 }, headers: { 'if-match': '"1"' } },
      ACCOUNT,
    ],
  ],
  getRemoval: () => [['/api/accounts/support/capture/removal', GET, ACCOUNT]],
  stopRemoval: () => [['/api/accounts/support/capture/removal/stop', POST, ACCOUNT]],
  listQuarantine: () => [
    ['/api/quarantine', GET, 'lists'],
    ['/api/quarantine?account_id=support', GET, UNKNOWN],
  ],
  findLeftOut: () => [
    ['/api/left-out?message_id=a@b.test', GET, 'lists'],
    ['/api/left-out?message_id=a@b.test&account_id=support', GET, UNKNOWN],
  ],
  retryQuarantined: ({ quarantined }) => [
    [`/api/quarantine/${quarantined}/retry`, POST, [404, 'quarantined_not_found']],
  ],
  listEvents: () => [
    ['/api/events', GET, 'lists'],
    ['/api/events?account_id=support', GET, UNKNOWN],
  ],
  createWebhook: () => [
    ['/api/webhooks', { json: { url: 'http://127.0.0.1:9/', account_id: 'support' } }, UNKNOWN],
  ],
  listWebhooks: () => [['/api/webhooks', GET, 'lists']],
  getWebhook: ({ webhook, wholeWebhook }) => [
    [`/api/webhooks/${webhook}`, GET, WEBHOOK],
    [`/api/webhooks/${wholeWebhook}`, GET, WEBHOOK],
  ],
  changeWebhook: ({ webhook, wholeWebhook }) => [
    [`/api/webhooks/${webhook}`, { method: 'PATCH', json: { account_id: 'sales' } }, WEBHOOK],
    [`/api/webhooks/${wholeWebhook}`, { method: 'PATCH', json: { account_id: 'sales' } }, WEBHOOK],
  ],
  deleteWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}`, { method: 'DELETE' }, WEBHOOK]],
  pauseWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/pause`, POST, WEBHOOK]],
  resumeWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/resume`, POST, WEBHOOK]],
  replayWebhook: ({ webhook }) => [
    [`/api/webhooks/${webhook}/replay`, { json: { since: new Date().toISOString() } }, WEBHOOK],
  ],
  rotateWebhookSecret: ({ webhook }) => [[`/api/webhooks/${webhook}/rotate-secret`, POST, WEBHOOK]],
  testWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/test`, POST, WEBHOOK]],
  listWebhookDeliveries: ({ webhook }) => [[`/api/webhooks/${webhook}/deliveries`, GET, WEBHOOK]],
  getStatistics: () => [
    ['/api/statistics', GET, 'lists'],
    ['/api/statistics?account_id=support', GET, UNKNOWN],
  ],
  listImports: () => [
    ['/api/imports', GET, 'lists'],
    ['/api/imports?account_id=support', GET, UNKNOWN],
  ],
  listAudit: () => [['/api/audit', GET, REFUSED]],
  createKey: () => [
    [
      '/api/keys',
      { json: { name: 'x', rights: ['read'], account_ids: ['support'] } },
      [403, 'key_exceeds_caller'],
    ],
  ],
  listKeys: () => [['/api/keys', GET, 'lists']],
  getKey: ({ key }) => [[`/api/keys/${key}`, GET, KEY]],
  changeKey: ({ key }) => [[`/api/keys/${key}`, { method: 'PATCH', json: { rate_limit: 5 } }, KEY]],
  revokeKey: ({ key }) => [[`/api/keys/${key}`, { method: 'DELETE' }, KEY]],
  rotateKey: ({ key }) => [[`/api/keys/${key}/rotate`, POST, KEY]],
};

describe('a key of one account', () => {
  let key: MadeKey;
  let own: { readonly threadId: string; readonly id: string };
  let others: Others;

  async function makeWebhook(accountId: string | null): Promise<string> {
    const { json } = await ask(null, '/api/webhooks', {
      json: { url: 'http://127.0.0.1:9/', account_id: accountId },
    });
    return (json['webhook'] as { id: string }).id;
  }

  beforeAll(async () => {
    key = await makeKey({ rights: ['admin'], account_ids: ['sales'] });
    const customer = randomUUID();
    const sent = await ask(null, '/api/send', {
      json: sendBody({
        account_id: 'support',
        subject: 'geheim',
        customer_id: customer,
        attachments: [{ filename: 'geheim.txt', content: 'Z2VoZWlt', content_type: 'text/plain' }],
      }),
    });
    const queued = await ask(null, '/api/send', {
      json: sendBody({ account_id: 'support', send_at: later() }),
    });
    const email = sent.json['id'] as string;
    const detail = (await ask(null, `/api/emails/${email}`)).json;
    const received = await receive(keys.service, mail({ subject: 'geheim' }), '?account_id=support');
    const [row] = await query(
      keys.database.connectionString,
      `with a as (insert into mailbox_accounts (account_id) values ('support') returning account_id),
        b as (insert into mailboxes (account_id, path) select account_id, 'INBOX' from a returning id)
      insert into mailbox_messages (mailbox_id, uid_validity, uid, quarantine_id, quarantined_at, seen_at, tries, last_error)
      select id, 1, 1, gen_random_uuid(), now(), now(), 4, 'x' from b returning quarantine_id`,
    );
    const [left] = await query(
      keys.database.connectionString,
      `insert into unsubscribes (id, account_id, list, address, email_id)
      values (gen_random_uuid(), 'support', 'geheim', 'ada@customer.test', gen_random_uuid()) returning id`,
    );
    const draft = await ask(null, '/api/drafts', {
      json: {
        message: { account_id: 'support', subject: 'geheim' },
        attachments: [{ filename: 'geheim.txt', content: 'Z2VoZWlt' }],
      },
    });
    const makeTemplate = async (accountId: string | null) => {
      const json = {
        name: accountId === null ? 'everybody' : 'geheim',
        subject: 'x',
        text_body: 'x',
        account_id: accountId,
      };
      return (await ask(null, '/api/templates', { json })).json['id'] as string;
    };
    const makeRule = async (accounts: '*' | readonly string[]) =>
      (await ask(null, '/api/rules', { json: rule(accounts) })).json['id'] as string;
    const block = async (sender: string, accountId: string | null) => {
      const json = { sender, account_id: accountId };
      return (await ask(null, '/api/blocked-senders', { json })).json['id'] as string;
    };
    const blocked = await block('geheim@nowhere.test', 'support');
    const wholeBlocked = await block('everybody@nowhere.test', null);
    const hiddenRule = await makeRule(['support']);
    const wholeRule = await makeRule('*');
    const template = await makeTemplate('support');
    const wholeTemplate = await makeTemplate(null);
    own = await receive(keys.service, mail(), '?account_id=sales');
    others = {
      thread: sent.json['threadId'] as string,
      otherThread: received.threadId,
      email,
      queued: queued.json['id'] as string,
      attachment: (detail['email_attachments'] as { id: string }[])[0]?.id ?? '',
      quarantined: row?.['quarantine_id'] as string,
      webhook: await makeWebhook('support'),
      wholeWebhook: await makeWebhook(null),
      key: (await makeKey({ rights: ['read'], account_ids: ['support'] })).id,
      draft: draft.json['id'] as string,
      draftFile: (draft.json['attachments'] as { id: string }[])[0]?.id ?? '',
      unsubscribe: left?.['id'] as string,
      template,
      wholeTemplate,
      rule: hiddenRule,
      blocked,
      wholeBlocked,
      wholeRule,
      customer,
    };
    await backgroundWorkIsDone(keys.database.connectionString);
  });

  it('is checked against every operation that there is', async () => {
    expect(Object.keys(CHECKS).sort()).toEqual((await operations()).map(({ id }) => id).sort());
  });

  it('does not see, and does not change, what is of another account', async () => {
    const before = await everything();
    for (const [operation, check] of Object.entries(CHECKS)) {
      for (const [target, init, expected] of check?.(others) ?? []) {
        const owned = (text: string) => text.replaceAll('OWN', own.threadId);
        const json =
          init.json === undefined ? {} : { json: JSON.parse(owned(JSON.stringify(init.json))) as unknown };
        const answer = await ask(key.secret, owned(target), { ...init, ...json });
        const leak = leakOf(answer.text);
        const [status, code] = expected === 'lists' ? [200, undefined] : expected;
        expect([operation, target, answer.status, answer.json['code'], leak]).toEqual([
          operation,
          target,
          status,
          code,
          [],
        ]);
      }
    }
    expect(await everything()).toEqual(before);
  });

  it('is open to each right alone as far as the operation declares it, and no further', async () => {
    const before = await everything();
    const byId = new Map((await operations()).map((operation) => [operation.id, operation]));
    for (const right of SINGLE_RIGHTS) {
      const { secret } = await makeKey({ rights: [right], account_ids: ['sales'] });
      for (const [id, check] of Object.entries(CHECKS)) {
        const operation = byId.get(id);
        if (operation === undefined) throw new Error(`there is no operation ${id}`);
        for (const [target, { json, ...init }, expected] of check?.(others) ?? []) {
          const body = json === undefined ? '' : JSON.stringify(json).replaceAll('OWN', own.threadId);
          const more = body === '' ? {} : { json: JSON.parse(body) as unknown };
          const answer = await ask(secret, target.replaceAll('OWN', own.threadId), { ...init, ...more });
          // A file of an email is named in the body of a send or a draft.
          const lacks =
            isLacking(operation, right) ||
            (body.includes('"attachment_id"') && id !== 'sendBatch' && right !== 'read');
          const wanted = lacks ? FORBIDDEN : expected === 'lists' ? [200, undefined] : expected;
          const got = [answer.status, answer.json['code'], leakOf(answer.text)];
          expect([right, id, target, ...got]).toEqual([right, id, target, ...wanted, []]);
        }
      }
    }
    expect(await everything()).toEqual(before);
  });

  it('is refused nothing for its accounts when it has all', async () => {
    const { secret } = await makeKey({ rights: ['admin'], account_ids: '*' });
    for (const [operation, check] of Object.entries(CHECKS)) {
      for (const [target, init] of check?.(others) ?? []) {
        if (init !== GET) continue;
        const { json } = await ask(secret, target.replaceAll('OWN', own.threadId));
        const isRefused = ['forbidden_account', 'unknown_account'].includes(String(json['code']));
        expect([operation, target, isRefused]).toEqual([operation, target, false]);
      }
    }
  });

  /** What the answer shows of the other account. */
  function leakOf(text: string): readonly string[] {
    // The customer and the file of the draft are in the request itself, and the key may read a template of all accounts.
    const isHidden = (name: string) =>
      !['customer', 'draftFile', 'wholeBlocked', 'wholeTemplate'].includes(name);
    const names = Object.entries(others).flatMap(([name, id]) =>
      isHidden(name) && text.includes(String(id)) ? [name] : [],
    );
    return text.includes('geheim') ? [...names, 'geheim'] : names;
  }

  /** Everything that the account has, as the secret sees it. */
  async function everything(): Promise<readonly unknown[]> {
    return Promise.all(
      [
        `/api/thread/${others.thread}`,
        '/api/emails?account_id=support',
        '/api/threads?account_id=support',
        '/api/quarantine?account_id=support',
        '/api/webhooks',
        `/api/keys/${others.key}`,
        '/api/suppressions',
        '/api/unsubscribes?account_id=support',
        '/api/templates?account_id=support',
      ].map(async (target) => {
        const { status, json } = await ask(null, target);
        expect([target, status]).toEqual([target, 200]);
        // The progress of deliveries changes by itself.
        const settings = (webhook: Json) => [webhook['id'], webhook['account_id'], webhook['paused_at']];
        return 'webhooks' in json ? (json['webhooks'] as Json[]).map(settings) : json;
      }),
    );
  }

  it('sees and does what is of its own', async () => {
    expect((await ask(key.secret, `/api/thread/${own.threadId}`)).status).toBe(200);
    expect((await ask(key.secret, `/api/emails/${own.id}/raw`)).text).toContain('Guten Tag');
    expect((await ask(key.secret, '/api/threads')).text).toContain(own.threadId);
    expect((await ask(key.secret, '/api/emails')).text).toContain(own.id);
    expect((await ask(key.secret, '/api/events')).text).toContain(own.id);
    const replied = await ask(key.secret, '/api/send', { json: sendBody({ thread_id: own.threadId }) });
    expect(replied.json).toMatchObject({ status: 'sent', threadId: own.threadId });
    const received = await ask(key.secret, '/api/inbound', {
      method: 'POST',
      body: mail(),
      headers: { 'content-type': 'message/rfc822' },
    });
    expect(received.status).toBe(200);
    const webhook = await ask(key.secret, '/api/webhooks', { json: { url: 'http://127.0.0.1:9/' } });
    expect(webhook.json['webhook']).toMatchObject({ account_id: 'sales' });
    const { id } = webhook.json['webhook'] as { id: string };
    const widened = ask(key.secret, `/api/webhooks/${id}`, { method: 'PATCH', json: { account_id: null } });
    expect(await codeOf(widened)).toEqual([400, 'invalid_request']);
    expect((await ask(key.secret, `/api/webhooks/${id}`, { method: 'DELETE' })).status).toBe(200);
  });

  it('sends from its only account when it names none', async () => {
    const { secret } = await makeKey({ rights: ['send', 'read'], account_ids: ['support'] });
    const { json } = await ask(secret, '/api/send', { json: sendBody() });
    expect((await ask(secret, `/api/emails/${String(json['id'])}`)).json).toMatchObject({
      account_id: 'support',
    });
  });

  it('of several accounts must name one unless it has the default one', async () => {
    const two = await makeKey({ rights: ['admin'], account_ids: ['support', 'billing'] });
    expect(await codeOf(ask(two.secret, '/api/send', { json: sendBody() }))).toEqual([
      400,
      'invalid_request',
    ]);
    const webhook = { json: { url: 'http://127.0.0.1:9/' } };
    expect(await codeOf(ask(two.secret, '/api/webhooks', webhook))).toEqual([400, 'invalid_request']);
    const threads = await ask(two.secret, '/api/threads');
    expect(threads.text).toContain(others.thread);
    expect(threads.text).not.toContain(own.threadId);
    expect((await ask(two.secret, '/api/events')).text).not.toContain(own.id);
    expect((await ask(two.secret, '/api/webhooks')).text).not.toContain(others.wholeWebhook);
    expect((await ask(two.secret, '/api/webhooks')).text).toContain(others.webhook);
  });
});
