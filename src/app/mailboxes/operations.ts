/** The mailboxes that are read, and the messages that could not be taken, in the API: /api/accounts and /api/quarantine. */
import { addrSpec } from '../../core/address/address.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import {
  AddressObject,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import type { AccountOf } from '../keys/account-of.ts';
import type { MailboxStatus, QuarantinedMessage } from './mailbox-status-ports.ts';
import type { AccountStatus, Mailboxes } from './read-mailbox-status.ts';

const REASON = {
  type: 'string',
  description: 'Error of the server or the service, for people to read.',
} as const;
const Count = { type: 'integer', minimum: 0 } as const;

const MailboxFailure = record('MailboxFailure', { reason: REASON, at: Timestamp });

const AccountFailure = record('AccountFailure', {
  kind: {
    type: 'string',
    enum: ['credentials', 'connection', 'refused', 'service'],
    description:
      '`credentials`: the server refused the login. `connection`: the server could not be reached. `refused`: the server refused ' +
      'a command. `service`: the database or the storage was away.',
  },
  reason: REASON,
  at: Timestamp,
});

const MailboxSchema = record('Mailbox', {
  path: { type: 'string', description: 'Name on the mail server.' },
  special_use: {
    type: ['string', 'null'],
    description: 'RFC 6154, such as `\\Sent`; `\\Inbox` for INBOX.',
  },
  last_success_at: {
    ...NullableTimestamp,
    description:
      'The last time at which everything in the mailbox was recorded or quarantined; null: not yet.',
  },
  lag_seconds: { type: ['integer', 'null'], description: 'Seconds since `last_success_at`.' },
  last_error: {
    anyOf: [MailboxFailure, { type: 'null' }],
    description: 'The last error ever; it is over when `last_success_at` is later.',
  },
  left_at: { ...NullableTimestamp, description: 'When reading of the mailbox ended; null while it is read.' },
  counts: record('MailboxCounts', {
    messages: { ...Count, description: 'Messages seen so far.' },
    recorded: { ...Count, description: 'Messages that are recorded.' },
    remaining: { ...Count, description: 'Messages still to be recorded.' },
    quarantined: { ...Count, description: 'Messages that could not be recorded; see `GET /api/quarantine`.' },
    expunged: { ...Count, description: 'Messages that have left the mailbox since, recorded or not.' },
  }),
});

const AccountSchema = record('Account', {
  id: { type: 'string' },
  from_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'Address of From; null when the responding process does not know the account.',
  },
  has_mailbox: {
    type: 'boolean',
    description: 'True when the responding process is configured to read the mailboxes.',
  },
  owner: {
    ...NullableUuid,
    description: 'Instance that reads the mailboxes; null when none does.',
  },
  owned_here: { type: 'boolean', description: 'True when the responding process is that instance.' },
  warning: {
    type: ['string', 'null'],
    description: "Why reading will stop unless an operator acts, such as a token that can't be refreshed.",
  },
  sent_copies: record('SentCopies', {
    kept: {
      type: 'boolean',
      description: 'True when the responding process is configured to copy sent mail into the Sent mailbox.',
    },
    note: { type: ['string', 'null'], description: 'Why copies are off although the account asks for them.' },
    pending: { ...Count, description: 'Copies waiting to be stored, of all processes.' },
    failed: { ...Count, description: 'Given up; see `sent_copy` of `GET /api/emails/{id}`.' },
    last_error: {
      anyOf: [MailboxFailure, { type: 'null' }],
      description: 'The latest error of copies that are not stored.',
    },
  }),
  last_attempt_at: { ...NullableTimestamp, description: 'Time of the last connection or attempt.' },
  next_attempt_at: {
    ...NullableTimestamp,
    description: 'Time of the next attempt after a failure; null while the account is read.',
  },
  last_error: {
    anyOf: [AccountFailure, { type: 'null' }],
    description: 'The last error ever; it is over when a mailbox has a later `last_success_at`.',
  },
  mailboxes: { type: 'array', items: MailboxSchema },
});

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

const operation = operationsWith<{
  readonly mailboxes: Mailboxes;
  readonly accountOf: Pick<AccountOf, 'quarantined'>;
}>();

const tag = 'Mailboxes';

export const mailboxOperations = [
  operation({
    id: 'listAccounts',
    method: 'GET',
    path: '/api/accounts',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List accounts and their mailboxes',
    description:
      'Lists the accounts of the configuration, then accounts that only other processes read, with their state in all ' +
      'processes of the installation.',
    answer: 'The complete list.',
    output: record('Accounts', { accounts: { type: 'array', items: AccountSchema } }),
    async run(_caller, { within }, { mailboxes }) {
      const accounts = await mailboxes.accounts();
      const seen = accounts.filter(({ accountId }) => within === null || within.includes(accountId));
      return { accounts: seen.map(toShownAccount) };
    },
  }),

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

function toShownAccount({
  accountId,
  from,
  isOwnedHere,
  sentCopies,
  ...status
}: AccountStatus): Value<typeof AccountSchema> {
  return {
    ...status,
    id: accountId,
    fromAddress: from === null ? null : { name: from.name, address: addrSpec(from) },
    ownedHere: isOwnedHere,
    sentCopies: { ...sentCopies, kept: sentCopies.areKept },
    mailboxes: status.mailboxes.map(toShownMailbox),
  };
}

function toShownMailbox({ lagMs, counts, ...status }: MailboxStatus): Value<typeof MailboxSchema> {
  return {
    ...status,
    lagSeconds: lagMs === null ? null : Math.max(0, Math.round(lagMs / 1000)),
    counts: { ...counts, remaining: counts.waiting },
  };
}

function toShownMessage({ path, from, ...message }: QuarantinedMessage): Value<typeof QuarantinedSchema> {
  return { ...message, mailbox: path, fromAddress: from };
}
