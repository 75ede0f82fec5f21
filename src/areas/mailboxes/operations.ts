/** The messages of mailboxes that could not be taken, in the API: /api/quarantine. */
import { parseMessageIdList } from '../../core/message/references.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { AddressObject, NullableTimestamp, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { QuarantinedMessage } from './mailbox-status-ports.ts';
import { LeftOutReason, REASON } from './account-schema.ts';
import type { Mailboxes } from './read-mailbox-status.ts';

const QuarantinedSchema = record('QuarantinedMessage', {
  id: Uuid,
  account_id: { type: 'string' },
  mailbox: { type: 'string', description: 'Path of the mailbox.' },
  uid_validity: { type: 'integer', minimum: 0 },
  uid: { type: 'integer', minimum: 1, description: 'RFC 9051 §2.3.1.1, of this mailbox and UIDVALIDITY.' },
  subject: {
    type: ['string', 'null'],
    description: 'Subject, at most 500 characters; null when there is none or it could not be read.',
  },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'First address of From; null as for `subject`.',
  },
  date: { ...NullableTimestamp, description: 'Date of the header; null as for `subject`.' },
  size_bytes: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Size as reported by the mail server; null when not reported.',
  },
  reason: REASON,
  tries: {
    type: 'integer',
    minimum: 0,
    description: 'Failed attempts, automatic and manual.',
  },
  first_seen_at: Timestamp,
  quarantined_at: Timestamp,
  next_try_at: Timestamp,
});

const REASONS =
  '`address`: the sender, or each recipient, is in `never_addresses`. `subject`: in `never_subjects`. `internal`: all participants are in ' +
  '`internal_domains`. `private`: marked by Sensitivity. `stranger`: no participant is a customer.';

const operation = operationsWith<{
  readonly mailboxes: Mailboxes;
  readonly accountOf: Pick<AccountOf, 'quarantined'>;
}>();

const tag = 'Mailboxes';

export const mailboxOperations = [
  operation({
    id: 'listQuarantine',
    method: 'GET',
    path: '/api/quarantine',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List quarantined messages',
    description:
      'Messages of mailboxes that could not be recorded, newest first, with the fields of their headers. They are retried ' +
      'automatically at growing intervals.',
    query: { account_id: { ...AccountId, description: 'Only of this account.' }, ...PAGE_PARAMETERS },
    answer: 'One page.',
    output: pageSchema('Quarantine', 'messages', QuarantinedSchema),
    async run(_caller, { accountId = null, within, limit, cursor = null }, { mailboxes }) {
      const page = await mailboxes.quarantine({ accountId, within, limit, cursor });
      return { ...page, messages: page.messages.map(toShownMessage) };
    },
  }),

  operation({
    id: 'findLeftOut',
    method: 'GET',
    path: '/api/left-out',
    right: 'read',
    account: 'list',
    tag,
    summary: 'Find out why an email was left out',
    description:
      'Messages that the rules of an account (`capture`) left out in the last 30 days, by their Message-ID. Of a message that is left ' +
      'out, nothing else is stored.',
    requiredQuery: ['message_id'],
    query: {
      message_id: {
        type: 'string',
        minLength: 1,
        maxLength: 998,
        description: 'With or without angle brackets.',
      },
      account_id: { ...AccountId, description: 'Only of this account.' },
    },
    answer: 'The newest first.',
    output: record('LeftOutMessages', {
      messages: {
        type: 'array',
        items: record('LeftOutMessage', {
          account_id: { type: 'string' },
          mailbox: { type: 'string', description: 'Path of the mailbox.' },
          reason: { ...LeftOutReason, description: REASONS },
          left_out_at: Timestamp,
        }),
      },
    }),
    async run(_caller, { messageId, accountId = null, within }, { mailboxes }) {
      const found = await mailboxes.leftOut({ messageIds: soughtIds(messageId), accountId, within });
      return { messages: found.map(({ path, at, ...one }) => ({ ...one, mailbox: path, leftOutAt: at })) };
    },
  }),

  operation({
    id: 'retryQuarantined',
    method: 'POST',
    path: '/api/quarantine/:id/retry',
    // The answer contains the subject and the sender.
    right: ['read', 'operate'],
    account: { of: ({ id }, { accountOf }) => accountOf.quarantined(id), missing: 'quarantined_not_found' },
    tag,
    summary: 'Retry a quarantined message now',
    description:
      'The process that reads the account retries it within seconds; on success the message leaves the list. After a failure ' +
      'the delays start again with the shortest. Needs no body; a body with fields is refused.',
    params: { id: { ...Uuid, description: 'Id from `GET /api/quarantine`.' } },
    answer: 'Scheduled for an immediate attempt.',
    output: QuarantinedSchema,
    act: {
      event: 'quarantine.retried',
      what: ({ id }) => ({ quarantinedId: id }),
      after: ({ accountId, mailbox, uid, nextTryAt }) => ({ accountId, path: mailbox, uid, nextTryAt }),
    },
    run: async (_caller, { id }, { mailboxes }) => toShownMessage(await mailboxes.retry(id)),
  }),
];

/** As they are read from a header. */
const soughtIds = (text: string): readonly string[] =>
  parseMessageIdList(text.includes('<') ? text : `<${text.trim()}>`);

function toShownMessage({ path, from, ...message }: QuarantinedMessage): Value<typeof QuarantinedSchema> {
  return { ...message, mailbox: path, fromAddress: from };
}
