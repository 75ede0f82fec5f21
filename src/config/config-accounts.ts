/** Reads the accounts: one from the environment, or several from a file. */
import { readFileSync } from 'node:fs';
import { ACCOUNT_ID, type Account } from '../platform/base/basics.ts';
import type { RetentionRule } from '../areas/erase/retention-store.ts';
import { FIRST_SYNC_DAYS } from '../areas/mailboxes/mailbox-ports.ts';
import { ConfigError } from './config-error.ts';
import { readCapture } from './config-capture.ts';
import { readDay, readFrom, readSecrets, readUrl } from './config-values.ts';
import { readDkim, readDkimField, readKeyList, type DkimConfig } from './config-dkim.ts';
import { readClosing, readFlag } from './config-closing.ts';
import { readAddresses } from './config-addresses.ts';
import { readOutOfOffice } from './config-out-of-office.ts';
import { readSentCopies, type SentCopiesConfig } from './config-sent-copies.ts';
import {
  readOAuth2,
  TENANT,
  type OAuth2Client,
  type OAuth2Clients,
  type OAuth2Config,
} from './config-oauth.ts';
import type { OutOfOffice } from '../core/absence/out-of-office.ts';
import type { ClosingText, Footer } from '../core/accounts/closing.ts';
import type { SenderAddress } from '../core/accounts/sender-addresses.ts';
import type { Address } from '../core/address/address.ts';
import {
  fileVariableOf,
  readAll,
  resolvePath,
  secretText,
  secretVariable,
  text,
  variable,
  type Environment,
} from './variable.ts';
import type { CaptureRules } from '../core/mailbox/capture.ts';
import type { RateLimit } from '../core/delivery/rate-window.ts';

export interface AccountConfig {
  readonly id: string;
  readonly from: Address;
  /** Those that it sends as besides `from`. */
  readonly addresses: readonly SenderAddress[];
  readonly signature: ClosingText | null;
  readonly footer: Footer | null;
  readonly outOfOffice: OutOfOffice | null;
  /** null: mail goes to the outbox folder. */
  readonly smtpUrl: string | null;
  readonly rate: RateLimit;
  /** See `Account`. */
  readonly joinBySubjectDays: number | null;
  /** Days without an email after which a thread is deleted; null: never. */
  readonly retentionDays: number | null;
  /** null: no mailbox is read. */
  readonly imap: ImapConfig | null;
  /** null: everything in INBOX and the Sent mailbox. */
  readonly capture: CaptureRules | null;
  /** Settings for putting the account's sent mail into its Sent mailbox. */
  readonly sentCopies: SentCopiesConfig;
  /** Replaces a password where a URL has a user without one. */
  readonly oauth2: OAuth2Config | null;
  /** null: the service does not sign the account's mail. */
  readonly dkim: DkimConfig | null;
  /** See `Account`. */
  readonly trustedAuthservIds: readonly string[];
}

export interface ImapConfig {
  readonly url: string;
  /** The first sync starts with mail that arrived on this day, 00:00 UTC; null: FIRST_SYNC_DAYS before the first sync. */
  readonly since: Date | null;
  /** The mailbox with sent mail, for servers that don't report which one it is; null: they do. */
  readonly sentPath: string | null;
}

const DEFAULT_FROM = 'email-worker <noreply@localhost>';
const MAX_RATE = 1_000_000_000;

/** Text from the environment, or a number from the accounts file. */
function readRate(where: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const rate = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 1 || rate > MAX_RATE) {
    throw new ConfigError(where, `must be a whole number from 1 to ${MAX_RATE}`);
  }
  return rate;
}

const ACCOUNT_FIELDS = new Set([
  'from',
  'addresses',
  'signature_text',
  'signature_html',
  'footer_text',
  'footer_html',
  'footer_once_per_thread',
  'out_of_office',
  'smtp_url',
  'rate_per_minute',
  'rate_per_day',
  'imap_url',
  'imap_since',
  'imap_sent',
  'imap_sent_copies',
  'capture',
  'join_by_subject',
  'retention_days',
  'oauth2',
  'dkim',
  'trusted_authserv_ids',
]);

interface ImapTexts {
  readonly url: string | null;
  readonly since: string | null;
  readonly sent: string | null;
}

/** @param nameOf the name of the variable or field, for messages */
function readImap(texts: ImapTexts, nameOf: (field: keyof ImapTexts) => string): ImapConfig | null {
  const url = readUrl(nameOf('url'), texts.url, IMAP_PROTOCOLS);
  if (url === null) {
    for (const field of ['since', 'sent'] as const) {
      if (texts[field] !== null)
        throw new ConfigError(nameOf(field), `has no effect without ${nameOf('url')}`);
    }
    return null;
  }
  const { sent } = texts;
  if (sent !== null && (sent.length > MAX_MAILBOX_NAME || /[\u0000-\u001f\u007f]/.test(sent))) {
    throw new ConfigError(nameOf('sent'), 'is not the name of a mailbox');
  }
  return { url, since: readDay(nameOf('since'), texts.since), sentPath: sent };
}

const SMTP_PROTOCOLS = ['smtp:', 'smtps:'];
const IMAP_PROTOCOLS = ['imap:', 'imaps:'];
/** Far more than servers allow. */
const MAX_MAILBOX_NAME = 1000;

/** The default account, which ACCOUNTS_FILE replaces. */
const DEFAULT_ACCOUNT = {
  from: variable('MAIL_FROM', {
    parse: (value, name) => readFrom(name, value ?? DEFAULT_FROM),
    defaultText: DEFAULT_FROM,
    meaning: 'Address of the default account, optionally with a display name.',
  }),
  smtpUrl: secretVariable('SMTP_URL', {
    parse: (value, name) => readUrl(name, value, SMTP_PROTOCOLS),
    defaultText: 'an outbox folder in `DATA_DIR`',
    meaning:
      'Mail server for outgoing mail: `smtp://user:pass@host:587` (STARTTLS when offered), `smtps://host:465`; more in ' +
      'docs/configuration.md. Without it each email is written as an .eml file and not delivered.',
  }),
  perMinute: variable('SMTP_RATE_PER_MINUTE', {
    parse: (value, name) => readRate(name, value),
    defaultText: 'no limit',
    meaning:
      'Maximum number of messages of the default account in a rolling minute, over all processes. The queue waits; a ' +
      'synchronous send gets 429.',
  }),
  perDay: variable('SMTP_RATE_PER_DAY', {
    parse: (value, name) => readRate(name, value),
    defaultText: 'no limit',
    meaning: 'The same in a rolling day.',
  }),
  imapUrl: secretText(
    'IMAP_URL',
    'Mail server with the mailboxes of the default account: `imaps://user:pass@host`, or `imap://` with STARTTLS; more in ' +
      'docs/configuration.md. Nothing is changed in them; only `IMAP_SENT_COPIES` adds to one.',
  ),
  imapSince: text(
    'IMAP_SINCE',
    'First day of the first sync of a mailbox: `2026-01-31`.',
    `${FIRST_SYNC_DAYS} days before the first sync`,
  ),
  imapSent: text(
    'IMAP_SENT',
    'Mailbox with sent mail, such as `INBOX.Gesendet`.',
    'the one marked by the server, or by its name in many languages',
  ),
  imapSentCopies: text(
    'IMAP_SENT_COPIES',
    'Whether emails of the default account are stored in its Sent mailbox, once each: `on`; `auto`: unless the mail server of ' +
      '`SMTP_URL` does so, as those of Gmail, Microsoft 365, iCloud and Yahoo do; or `off`.',
    '`off`',
  ),
  dkimKeys: text(
    'DKIM_KEYS',
    'Private keys that sign mail of the default account: `selector=file`, separated by commas, such as ' +
      '`mail2026=keys/rsa.pem,mail2026e=keys/ed25519.pem`; `email-worker dkim generate` creates them. In place of a file, ' +
      '`${NAME}` takes the key from that environment variable.',
    'mail is not signed here',
  ),
  dkimDomain: text('DKIM_DOMAIN', 'Signing domain.', 'the domain of `MAIL_FROM`'),
  retentionDays: variable('RETENTION_DAYS', {
    parse: (value, name) => readDays(name, value, MAX_RETENTION_DAYS),
    defaultText: 'everything is kept',
    meaning:
      'Days without activity after which a thread is deleted with its files, as by `DELETE /api/threads/{id}`.',
  }),
  trustedAuthservIds: variable('TRUSTED_AUTHSERV_IDS', {
    parse: (value, name) => readAuthservIds(name, value === null ? null : value.split(',')),
    defaultText: 'none',
    meaning:
      'Mail servers of the default account whose Authentication-Results (RFC 8601) are trusted, by the name at the beginning of ' +
      'the field, separated by commas: `mx.google.com`; `*` for the topmost field, whatever its name. Only for servers that ' +
      'write it into each email.',
  }),
  joinBySubjectDays: variable('JOIN_BY_SUBJECT_DAYS', {
    parse: (value, name) => readDays(name, value, MAX_WINDOW_DAYS),
    defaultText: 'none',
    meaning:
      'A received reply that references no email joins one with the same subject and counterparty that is at most this many ' +
      'days old.',
  }),
};

/** Applications for accounts that are created by the API; see docs/operations.md, OAuth2. */
const CLIENTS = {
  googleId: text('GOOGLE_CLIENT_ID', 'OAuth2 client at Google, for accounts of the API that name none.'),
  googleSecret: secretText('GOOGLE_CLIENT_SECRET', 'Its secret.'),
  microsoftId: text(
    'MICROSOFT_CLIENT_ID',
    'OAuth2 client (application) at Microsoft, for accounts of the API that name none.',
  ),
  microsoftSecret: secretText('MICROSOFT_CLIENT_SECRET', 'Its secret.'),
  microsoftTenant: text(
    'MICROSOFT_TENANT',
    'Tenant for that application: a domain, an identifier, or `organizations`.',
    '`common`',
  ),
};

export const ACCOUNT_VARIABLES = {
  ...DEFAULT_ACCOUNT,
  ...CLIENTS,
  file: text(
    'ACCOUNTS_FILE',
    'JSON file with several accounts; the first one is the default: `[{"id": "sales", "from": "Sales <sales@example.com>", ' +
      '"smtp_url": "${SALES_SMTP_URL}", "imap_url": "${SALES_IMAP_URL}"}]`; more in docs/configuration.md. `${NAME}` is replaced ' +
      'by that environment variable.',
  ),
  /** Empty: the key is a file in the data folder. */
  secretsKeys: secretVariable('SECRETS_KEY', {
    parse: (value, name) => readSecrets(value, name),
    defaultText: 'made when the first account is created, kept in `DATA_DIR/secrets-key`',
    meaning:
      'Key that seals the secrets of accounts created by the API, at least 16 characters; the same for all processes of a ' +
      'database. Two, separated by a comma, the new one first, until `email-worker accounts rotate-secrets` has run.',
  }),
};

export function readOAuth2Clients(env: Environment): OAuth2Clients {
  const { googleId, googleSecret, microsoftId, microsoftSecret, microsoftTenant } = readAll(CLIENTS, env);
  const toClient = (
    provider: 'GOOGLE' | 'MICROSOFT',
    clientId: string | null,
    clientSecret: string | null,
    tenant: string | null,
  ): OAuth2Client | null => {
    if (clientId !== null) return { clientId, clientSecret, tenant };
    if (clientSecret !== null)
      throw new ConfigError(`${provider}_CLIENT_SECRET`, `has no effect without ${provider}_CLIENT_ID`);
    if (tenant !== null)
      throw new ConfigError(`${provider}_TENANT`, `has no effect without ${provider}_CLIENT_ID`);
    return null;
  };
  if (microsoftTenant !== null && !TENANT.test(microsoftTenant))
    throw new ConfigError('MICROSOFT_TENANT', 'is not the name or the identifier of a tenant');
  return {
    google: toClient('GOOGLE', googleId, googleSecret, null),
    microsoft: toClient('MICROSOFT', microsoftId, microsoftSecret, microsoftTenant),
  };
}

/** The accounts of ACCOUNTS_FILE, or the default one of the environment. At least one; the first is the default. */
export function readAccounts(env: Environment): readonly [AccountConfig, ...AccountConfig[]] {
  const file = ACCOUNT_VARIABLES.file.read(env);
  if (file === null) return [readDefaultAccount(env)];
  const json = readAccountsFile(resolvePath(env, file));
  for (const { name, mayBeInFile } of Object.values(DEFAULT_ACCOUNT)) {
    const set = [name, ...(mayBeInFile ? [fileVariableOf(name)] : [])].find((one) => env.get(one) !== null);
    if (set !== undefined)
      throw new ConfigError(set, 'has no effect beside ACCOUNTS_FILE; put it into that file');
  }
  const [first, ...others] = parseAccounts(json, env);
  if (first === undefined) throw new ConfigError('ACCOUNTS_FILE', 'must hold at least one account');
  return [first, ...others];
}

function readDefaultAccount(env: Environment): AccountConfig {
  const {
    perMinute,
    perDay,
    imapUrl,
    imapSince,
    imapSent,
    imapSentCopies,
    dkimKeys,
    dkimDomain,
    ...account
  } = readAll(DEFAULT_ACCOUNT, env);
  return {
    ...account,
    id: 'default',
    addresses: [],
    signature: null,
    footer: null,
    outOfOffice: null,
    rate: { perMinute, perDay },
    imap: readImap(
      { url: imapUrl, since: imapSince, sent: imapSent },
      (field) => `IMAP_${field.toUpperCase()}`,
    ),
    capture: null,
    sentCopies: readSentCopies('IMAP_SENT_COPIES', imapSentCopies, {
      smtpUrl: account.smtpUrl,
      hasMailbox: imapUrl !== null,
    }),
    oauth2: null,
    dkim: readDefaultDkim(env, { keys: dkimKeys, domain: dkimDomain }, account),
  };
}

function readDefaultDkim(
  env: Environment,
  { keys, domain }: { readonly keys: string | null; readonly domain: string | null },
  account: Pick<AccountConfig, 'from' | 'smtpUrl'>,
): DkimConfig | null {
  if (keys === null) {
    if (domain !== null) throw new ConfigError('DKIM_DOMAIN', 'has no effect without DKIM_KEYS');
    return null;
  }
  const texts = readKeyList('DKIM_KEYS', keys).map(
    ([selector, key]) => [selector, expand(key, env, 'DKIM_KEYS')] as const,
  );
  return readDkim('DKIM_KEYS', { domain, keys: texts }, { ...account, cwd: env.cwd });
}

function readAccountsFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The parser's message may quote the file, and with it a password.
    const reason = error instanceof SyntaxError ? 'is not JSON' : `can not be read: ${reasonOf(error)}`;
    throw new ConfigError('ACCOUNTS_FILE', reason);
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function parseAccounts(json: unknown, env: Environment): readonly AccountConfig[] {
  if (!Array.isArray(json)) throw new ConfigError('ACCOUNTS_FILE', 'must hold an array of accounts');
  const ids = new Set<string>();
  return json.map((entry: unknown, index): AccountConfig => {
    const where = `ACCOUNTS_FILE, account ${index + 1}`;
    if (typeof entry !== 'object' || entry === null) throw new ConfigError(where, 'must be an object');
    const { id, ...fields }: Record<string, unknown> = { ...entry };
    if (typeof id !== 'string' || !ACCOUNT_ID.test(id)) {
      throw new ConfigError(where, 'id must be lower-case letters, digits, - and _, at most 63');
    }
    if (ids.has(id)) throw new ConfigError(where, `id ${id} is taken`);
    ids.add(id);
    return readAccount(id, fields, {
      nameOf: (field) => (field === null ? where : `${where}, ${field}`),
      expand: (text) => expand(text, env, where),
      cwd: env.cwd,
      clients: null,
    });
  });
}

/** Where the fields of an account come from. */
export interface AccountSource {
  /** The name of a field in messages; null: of the account. */
  readonly nameOf: (field: string | null) => string;
  /** Replaces `${NAME}`. */
  readonly expand: (text: string) => string;
  /** The owner of the mailboxes may still be asked for a consent, by one of these; null: by none. */
  readonly clients: OAuth2Clients | null;
  /** The base of relative paths of key files; null: no files may be named. */
  readonly cwd: string | null;
}

/** Reads an account as ACCOUNTS_FILE and the API describe it. Throws ConfigError. */
export function readAccount(
  id: string,
  fields: Readonly<Record<string, unknown>>,
  { nameOf, expand: expanded, cwd, clients }: AccountSource,
): AccountConfig {
  const unknown = Object.keys(fields).find((name) => !ACCOUNT_FIELDS.has(name));
  if (unknown !== undefined) throw new ConfigError(nameOf(null), `has the unknown field ${unknown}`);
  const { from } = fields;
  const textOf = (name: string): string | null => {
    const value = fields[name] ?? null;
    if (value !== null && typeof value !== 'string')
      throw new ConfigError(nameOf(null), `${name} must be text`);
    return value === null ? null : expanded(value);
  };
  if (typeof from !== 'string') throw new ConfigError(nameOf(null), 'from is missing');
  const smtpUrl = readUrl(nameOf('smtp_url'), textOf('smtp_url'), SMTP_PROTOCOLS);
  const imap = readImap(
    { url: textOf('imap_url'), since: textOf('imap_since'), sent: textOf('imap_sent') },
    (field) => nameOf(`imap_${field}`),
  );
  const address = readFrom(nameOf('from'), expanded(from));
  return {
    id,
    from: address,
    addresses: readAddresses(nameOf('addresses'), fields['addresses'], address),
    signature: readClosing('signature', fields, nameOf),
    footer: readFooter(fields, nameOf),
    outOfOffice: readOutOfOffice(nameOf('out_of_office'), fields['out_of_office']),
    smtpUrl,
    rate: {
      perMinute: readRate(nameOf('rate_per_minute'), fields['rate_per_minute']),
      perDay: readRate(nameOf('rate_per_day'), fields['rate_per_day']),
    },
    imap,
    capture: readCaptureOf(nameOf('capture'), fields['capture'], imap),
    sentCopies: readSentCopies(nameOf('imap_sent_copies'), textOf('imap_sent_copies'), {
      smtpUrl,
      hasMailbox: imap !== null,
    }),
    retentionDays: readDays(nameOf('retention_days'), fields['retention_days'], MAX_RETENTION_DAYS),
    trustedAuthservIds: readAuthservIds(nameOf('trusted_authserv_ids'), fields['trusted_authserv_ids']),
    joinBySubjectDays: readJoinBySubject(nameOf('join_by_subject'), fields['join_by_subject']),
    oauth2: readOAuth2(
      nameOf('oauth2'),
      fields['oauth2'],
      expanded,
      {
        imap: hasUserAlone(imap?.url ?? null),
        smtp: hasUserAlone(smtpUrl),
        user: userOf(imap?.url ?? null) ?? userOf(smtpUrl),
      },
      clients,
    ),
    dkim: readDkimField(nameOf('dkim'), fields['dkim'], expanded, { from: address, smtpUrl, cwd }),
  };
}

function readCaptureOf(where: string, value: unknown, imap: ImapConfig | null): CaptureRules | null {
  const rules = readCapture(where, value);
  if (rules !== null && imap === null) throw new ConfigError(where, 'has no effect without imap_url');
  return rules;
}

function readFooter(
  fields: Readonly<Record<string, unknown>>,
  nameOf: (field: string) => string,
): Footer | null {
  const footer = readClosing('footer', fields, nameOf);
  const where = nameOf('footer_once_per_thread');
  const oncePerThread = readFlag(where, fields['footer_once_per_thread']);
  if (footer === null && oncePerThread) throw new ConfigError(where, 'has no effect without footer_text');
  return footer === null ? null : { ...footer, oncePerThread };
}

const MAX_AUTHSERV_IDS = 20;
const AUTHSERV_ID = /^(?:\*|[a-z0-9._:/-]{1,253})$/;

/** From a list in the environment or in the accounts file; lower-case. */
function readAuthservIds(where: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const ids = Array.isArray(value)
    ? value.map((id: unknown) => (typeof id === 'string' ? id.trim().toLowerCase() : ''))
    : [];
  if (ids.length === 0 || ids.length > MAX_AUTHSERV_IDS || !ids.every((id) => AUTHSERV_ID.test(id))) {
    throw new ConfigError(
      where,
      `must be 1 to ${MAX_AUTHSERV_IDS} names of servers such as mx.example.com, or *`,
    );
  }
  return ids;
}

/** Longer than people take to answer. It also bounds the number of emails that one reply may find. */
const MAX_WINDOW_DAYS = 366;
/** A hundred years: a longer time is for ever. */
const MAX_RETENTION_DAYS = 36_525;

/** Text from the environment, or a number from the accounts file; null when neither is set. */
function readDays(where: string, value: unknown, max: number): number | null {
  if (value === undefined || value === null) return null;
  const days = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > max) {
    throw new ConfigError(where, `must be a whole number of days from 1 to ${max}`);
  }
  return days;
}

/** `{"window_days": 7}` */
function readJoinBySubject(where: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || Object.keys(value).join() !== 'window_days') {
    throw new ConfigError(where, 'must be an object such as {"window_days": 7}');
  }
  return readDays(`${where}.window_days`, Object.values(value)[0], MAX_WINDOW_DAYS);
}

/** True if the URL names a user and leaves the password to a token. */
function hasUserAlone(text: string | null): boolean {
  if (text === null) return false;
  const { username, password } = new URL(text);
  return username !== '' && password === '';
}

/** Decoded; null: it names none, or with a password. */
function userOf(text: string | null): string | null {
  if (text === null || !hasUserAlone(text)) return null;
  try {
    return decodeURIComponent(new URL(text).username);
  } catch {
    // Reported where the URL is read as a server's.
    return null;
  }
}

/** Secrets belong in the environment, or in files that it names, and not in the accounts file. */
function expand(text: string, env: Environment, where: string): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env.secret(name);
    if (value === null) throw new ConfigError(where, `the environment variable ${name} is not set`);
    return value;
  });
}

/**
 * The account as use cases see it.
 *
 * @param hasListener the listeners take mail for every account
 */
export const toAccount = (
  {
    id,
    from,
    addresses,
    signature,
    footer,
    outOfOffice,
    joinBySubjectDays,
    trustedAuthservIds,
    dkim,
    imap,
    sentCopies,
  }: AccountConfig,
  hasListener: boolean,
): Account => ({
  id,
  from,
  addresses,
  signature,
  footer,
  outOfOffice,
  joinBySubjectDays,
  trustedAuthservIds,
  receives: hasListener || imap !== null,
  keepsSentCopies: sentCopies.areKept,
  ...(dkim === null ? {} : { dkim }),
});

/** The rules of the accounts that do not keep everything. */
export const retentionRules = (accounts: readonly AccountConfig[]): readonly RetentionRule[] =>
  accounts.flatMap(({ id, retentionDays }) =>
    retentionDays === null ? [] : [{ accountId: id, days: retentionDays }],
  );
