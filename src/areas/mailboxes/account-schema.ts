/** An account in the API: its settings as they are given and shown, and the state of its mailboxes. */
import { MAX_ABSENCE_CHARS } from '../../core/absence/out-of-office.ts';
import { SIGNATURE_VARIABLES } from '../../core/accounts/closing.ts';
import {
  MAX_CLOSING_CHARS,
  MAX_SENDER_ADDRESSES,
  MAX_SENDER_NAME_CHARS,
} from '../../core/accounts/limits.ts';
import { addrSpec } from '../../core/address/address.ts';
import { LEFT_OUT_REASONS } from '../../core/mailbox/capture.ts';
import { ONE_LINE_PATTERN } from '../../core/one-line.ts';
import { fromJson, type Value } from '../../platform/operation/values.ts';
import {
  AddressObject,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
} from '../../platform/schemas/schemas.ts';
import { NullableLanguage } from '../reply/reply-body.ts';
import type { MailboxStatus } from './mailbox-status-ports.ts';
import { ACCOUNT_STATES, type AccountStatus } from './read-mailbox-status.ts';

export const REASON = {
  type: 'string',
  description: 'Error of the server or the service, for people to read.',
} as const;
const Count = { type: 'integer', minimum: 0 } as const;

/** Longer than any address of a server; in characters. */
const MAX_URL_CHARS = 2000;
const MAX_TEXT_CHARS = 1000;
/** RFC 5322 §2.1.1: of a line. */
const MAX_FROM_CHARS = 998;
/** Refresh tokens of Microsoft have some 2,000, private keys of 4096 bits some 3,300. */
const MAX_SECRET_CHARS = 8000;
const MAX_AUTHSERV_IDS = 20;
const MAX_DKIM_KEYS = 4;

const Line = {
  title: 'AccountText',
  type: ['string', 'null'],
  minLength: 1,
  maxLength: MAX_TEXT_CHARS,
  pattern: ONE_LINE_PATTERN,
} as const;
const Url = {
  title: 'ServerUrl',
  $comment: 'With user and password; see [configuration](/api/docs/configuration).',
  type: ['string', 'null'],
  minLength: 1,
  maxLength: MAX_URL_CHARS,
  pattern: ONE_LINE_PATTERN,
} as const;
const Secret = {
  title: 'AccountSecret',
  type: ['string', 'null'],
  minLength: 1,
  maxLength: MAX_SECRET_CHARS,
} as const;
const Limit = {
  title: 'AccountLimit',
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 1_000_000_000,
} as const;
const JoinBySubject = {
  title: 'JoinBySubject',
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['window_days'],
  properties: { window_days: { type: 'integer', minimum: 1, maximum: 366 } },
} as const;
const AuthservIds = {
  title: 'TrustedAuthservIds',
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1, maxLength: 253 },
  minItems: 1,
  maxItems: MAX_AUTHSERV_IDS,
} as const;
const OPEN_OAUTH2 = {
  provider: Line,
  tenant: Line,
  grant: { ...Line, description: '`client_credentials` or `jwt_bearer`; null: the consent of the owner.' },
  issuer: Line,
  token_url: Line,
  scope: Line,
} as const;

const texts = (title: string, maxLength: number, maxItems: number) =>
  ({
    title,
    type: ['array', 'null'],
    items: { type: 'string', minLength: 1, maxLength },
    maxItems,
  }) as const;
const Switch = { title: 'CaptureSwitch', type: ['boolean', 'null'] } as const;

/** See CaptureRules. */
export const AccountCapture = {
  title: 'AccountCapture',
  $comment:
    'What is read and recorded by IMAP; see [mailboxes](/api/docs/receiving). null: all of INBOX and the Sent mailbox.',
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    folders: {
      ...texts('CaptureFolders', 1000, 50),
      description: 'Mailboxes besides these: `Projekte/*`, or special uses such as `\\Archive`.',
    },
    never_addresses: {
      ...texts('NeverAddresses', 320, 1000),
      description:
        '`ann@example.com`, `*@example.com` or `*@*.example.com`: mail from these, or to these alone, is left out.',
    },
    never_subjects: { ...texts('NeverSubjects', 200, 100), description: 'Parts of subjects.' },
    internal_domains: {
      ...texts('InternalDomains', 253, 100),
      description: 'Mail within these domains is left out.',
    },
    leave_out_private: { ...Switch, description: 'Mail that is marked by Sensitivity.' },
    only_customers: { ...Switch, description: 'Leaves out mail without a customer among its participants.' },
  },
} as const;

const From = {
  title: 'AccountFrom',
  $comment: 'Address of From, optionally with a display name.',
  type: 'string',
  minLength: 1,
  maxLength: MAX_FROM_CHARS,
  pattern: ONE_LINE_PATTERN,
} as const;

const ClosingText = {
  title: 'AccountClosing',
  $comment:
    'Signatures are for `signature: true`, with the variables ' +
    `${SIGNATURE_VARIABLES.join(', ')}. The footer is on every email that is sent.`,
  type: ['string', 'null'],
  minLength: 1,
  maxLength: MAX_CLOSING_CHARS,
} as const;
const SIGNATURE = { signature_text: ClosingText, signature_html: ClosingText } as const;

const AccountAddress = {
  title: 'AccountAddress',
  type: 'object',
  additionalProperties: false,
  required: ['address'],
  properties: {
    address: From,
    name: { ...Line, maxLength: MAX_SENDER_NAME_CHARS, title: 'AccountAddressName' },
    reply_to: { ...Line, description: 'For answers, unless a send names other addresses.' },
    ...SIGNATURE,
  },
} as const;

/** See OutOfOffice. */
const OutOfOffice = {
  title: 'AccountOutOfOffice',
  $comment:
    'An answer to people who write while the account is away, once in seven days to each; see ' +
    '[receiving](/api/docs/receiving). null: none.',
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['text'],
  properties: {
    from: { ...Line, description: 'RFC 3339. Mail that arrived before is not answered; null: at once.' },
    until: { ...Line, description: 'RFC 3339. The end; null: when the setting is removed.' },
    subject: { ...Line, description: 'null: `Automatische Antwort:` or `Automatic reply:` and the subject.' },
    language: { ...NullableLanguage, description: 'Of that subject; null: `de`.' },
    text: { title: 'AbsenceText', type: 'string', minLength: 1, maxLength: MAX_ABSENCE_CHARS },
    html: { title: 'AbsenceHtml', type: ['string', 'null'], minLength: 1, maxLength: MAX_ABSENCE_CHARS },
  },
} as const;

/** The settings that need no secret, under the same names in requests and answers. */
const PLAIN_SETTINGS = {
  addresses: {
    title: 'AccountAddresses',
    $comment: 'What it sends as besides `from`; patterns are `*@example.com` and `sales+*@example.com`.',
    type: ['array', 'null'],
    items: AccountAddress,
    maxItems: MAX_SENDER_ADDRESSES,
  },
  ...SIGNATURE,
  footer_text: ClosingText,
  footer_html: ClosingText,
  footer_once_per_thread: { type: ['boolean', 'null'], title: 'FooterOncePerThread' },
  out_of_office: OutOfOffice,
  imap_since: { ...Line, description: 'First day of the first sync, such as `2026-01-31`.' },
  imap_sent: { ...Line, description: 'Mailbox with sent mail; null: the one that the server marks.' },
  imap_sent_copies: { ...Line, description: '`on`, `auto` or `off`; null: `off`.' },
  capture: AccountCapture,
  rate_per_minute: Limit,
  rate_per_day: Limit,
  join_by_subject: JoinBySubject,
  retention_days: Limit,
  trusted_authserv_ids: AuthservIds,
} as const;

/** What a caller may set: the fields of ACCOUNTS_FILE. */
export const ACCOUNT_SETTINGS = {
  from: From,
  smtp_url: { ...Url, description: 'Mail server that sends; null: mail goes to the outbox folder.' },
  imap_url: { ...Url, description: 'Mail server with the mailboxes; null: none are read.' },
  ...PLAIN_SETTINGS,
  oauth2: {
    title: 'AccountOAuth2Request',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      ...OPEN_OAUTH2,
      client_id: { ...Secret, maxLength: MAX_TEXT_CHARS, title: 'OAuth2ClientId' },
      client_secret: Secret,
      private_key: { ...Secret, description: 'PEM, for `jwt_bearer`.' },
      refresh_token: {
        ...Secret,
        description: 'Without it, ask for a consent: `POST /api/accounts/{id}/consent`.',
      },
    },
  },
  dkim: {
    title: 'AccountDkimRequest',
    type: ['object', 'null'],
    additionalProperties: false,
    required: ['keys'],
    properties: {
      domain: Line,
      keys: {
        type: 'object',
        minProperties: 1,
        maxProperties: MAX_DKIM_KEYS,
        additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_SECRET_CHARS },
        description: 'Private keys in PEM, by their selectors.',
      },
    },
  },
} as const;

const Settings = record('AccountSettings', {
  from: From,
  smtp_server: { ...Line, description: 'URL without user and password; null: the outbox folder.' },
  imap_server: { ...Line, description: 'URL without user and password; null: no mailbox is read.' },
  ...PLAIN_SETTINGS,
  oauth2: {
    anyOf: [record('AccountOAuth2', { ...OPEN_OAUTH2, client_id: Line }), { type: 'null' }],
  },
  dkim: {
    anyOf: [
      record('AccountDkim', { domain: Line, selectors: { type: 'array', items: { type: 'string' } } }),
      { type: 'null' },
    ],
  },
});

/** See LEFT_OUT_REASONS. */
export const LeftOutReason = { title: 'LeftOutReason', type: 'string', enum: LEFT_OUT_REASONS } as const;

/** By LeftOutReason. */
export const LeftOutCounts = record('LeftOutCounts', {
  address: Count,
  subject: Count,
  internal: Count,
  private: Count,
  stranger: Count,
});

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
    left_out: {
      ...LeftOutCounts,
      description: 'Messages that `capture` left out, by the reason; see `GET /api/left-out`.',
    },
  }),
});

export const AccountSchema = record('Account', {
  id: { type: 'string' },
  declared: {
    type: 'boolean',
    description: 'True for an account of the environment or ACCOUNTS_FILE, which the API can not change.',
  },
  state: {
    type: 'string',
    enum: ACCOUNT_STATES,
    description:
      '`unavailable`: the responding process can not use it, see `warning`. `removed`: it was deleted, or only other processes ' +
      'are configured with it.',
  },
  version: { type: 'integer', minimum: 1, description: 'Of the settings, for If-Match.' },
  paused_at: NullableTimestamp,
  settings: {
    anyOf: [Settings, { type: 'null' }],
    description: 'Without secrets; null when the responding process does not know the account.',
  },
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
  reconnect: {
    type: 'boolean',
    description:
      'True: the owner of the mailboxes has to consent (again): `POST /api/accounts/{id}/consent`.',
  },
  warning: {
    type: ['string', 'null'],
    description:
      'Why it is unavailable, or will stop unless an operator acts, such as a token that can not be refreshed.',
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

const toShownSettings = fromJson(Settings.properties) as (
  open: Readonly<Record<string, unknown>>,
) => Value<typeof Settings>;

export function toShownAccount({
  accountId,
  from,
  isOwnedHere,
  isDeclared,
  settings,
  sentCopies,
  ...status
}: AccountStatus): Value<typeof AccountSchema> {
  return {
    ...status,
    id: accountId,
    declared: isDeclared,
    settings: settings === null ? null : toShownSettings({ ...settings }),
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
