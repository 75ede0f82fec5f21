/**
 * Configuration: the only reader of the environment. Every variable is declared once, in VARIABLES, with its meaning
 * and default; `--help` and docs/configuration.md are made from that table.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { FIRST_SYNC_DAYS } from '../app/mailboxes/mailbox-ports.ts';
import { readAccounts, type AccountConfig } from './config-accounts.ts';
import { ConfigError } from './config-error.ts';
import { readListen, readNetworks, readTls, readUrl, type ListenAddress } from './config-values.ts';
import type { LoopLimit } from '../core/delivery/loop-guard.ts';
import { DEFAULT_RETRY_SCHEDULE, type RetrySchedule } from '../core/delivery/retry-schedule.ts';

export interface Variable {
  readonly name: string;
  /** How the default reads in the table. */
  readonly defaultText: string;
  /** One or two sentences; units included. */
  readonly meaning: string;
}

/** Every variable, in the order of the documentation. All are optional. */
export const VARIABLES = [
  { name: 'PORT', defaultText: '3000', meaning: 'Port where HTTP listens; 0 picks a free one.' },
  {
    name: 'HOST',
    defaultText: '127.0.0.1',
    meaning: 'Address where HTTP listens; `0.0.0.0` or `::` for all.',
  },
  {
    name: 'HTTP_MAX_CONNECTIONS',
    defaultText: '500',
    meaning:
      'HTTP connections at the same time; for one more, the oldest that never brought a right secret is closed.',
  },
  {
    name: 'TRUSTED_PROXIES',
    defaultText: 'none',
    meaning:
      'Addresses and networks of proxies, such as `127.0.0.1,10.0.0.0/8`, whose `X-Forwarded-For` says who the client is: for failed log-ins and the security log.',
  },
  {
    name: 'API_SECRET',
    defaultText: 'made at the first start, kept in `DATA_DIR/api-secret`',
    meaning:
      'The bearer secret, at least 16 characters; two, separated by a comma, while it is being changed.',
  },
  {
    name: 'DATA_DIR',
    defaultText: './data',
    meaning: 'Folder of the embedded database, the files and the journal.',
  },
  {
    name: 'DATABASE_URL',
    defaultText: 'the embedded PostgreSQL',
    meaning: 'An external PostgreSQL 15 or later: `postgres://user:pass@host:5432/name`.',
  },
  { name: 'DATABASE_POOL_SIZE', defaultText: '10', meaning: 'Database connections of this process at most.' },
  {
    name: 'DATABASE_CONNECT_TIMEOUT_MS',
    defaultText: '3000',
    meaning: 'How long to wait for a database connection, in ms.',
  },
  {
    name: 'DATABASE_STATEMENT_TIMEOUT_MS',
    defaultText: '10000',
    meaning: 'How long one statement may take, in ms; a send whose record takes longer is answered with 207.',
  },
  {
    name: 'SMTP_URL',
    defaultText: 'an outbox folder in `DATA_DIR`',
    meaning:
      'The mail server that takes outgoing mail: `smtp://user:pass@host:587` (STARTTLS when offered), `smtps://host:465`; more in docs/configuration.md. Without it each email is written as an .eml file and not delivered.',
  },
  {
    name: 'SMTP_MAX_CONNECTIONS',
    defaultText: '10',
    meaning: 'Connections to the mail server at the same time, per account.',
  },
  { name: 'SMTP_CONNECT_TIMEOUT_MS', defaultText: '30000', meaning: 'Connecting, TLS included, in ms.' },
  {
    name: 'SMTP_GREETING_TIMEOUT_MS',
    defaultText: '30000',
    meaning: "Waiting for the server's greeting, in ms.",
  },
  {
    name: 'SMTP_COMMAND_TIMEOUT_MS',
    defaultText: '60000',
    meaning: 'Waiting for the reply to a command, in ms.',
  },
  {
    name: 'SMTP_DATA_TIMEOUT_MS',
    defaultText: '600000',
    meaning:
      'Waiting for the reply after the end of a message, in ms; when it passes, the outcome is unknown.',
  },
  {
    name: 'SMTP_RATE_PER_MINUTE',
    defaultText: 'no limit',
    meaning:
      'Messages of the default account in a rolling minute at most, over all processes. The queue waits; a synchronous send gets 429.',
  },
  { name: 'SMTP_RATE_PER_DAY', defaultText: 'no limit', meaning: 'The same in a rolling day.' },
  {
    name: 'SEND_RETRY_DELAYS_S',
    defaultText: '300,900,1800,3600,7200,14400',
    meaning:
      'Seconds until a send that the mail server put off is tried again, after the first, second, … attempt; the last one repeats. A fifth of it when the server could not be reached.',
  },
  {
    name: 'SEND_GIVE_UP_HOURS',
    defaultText: '96',
    meaning: 'How long a queued send is tried, in hours; fractions are allowed.',
  },
  {
    name: 'SEND_LEASE_MS',
    defaultText: '30000',
    meaning:
      'How long a process may be silent before others take its hand-overs under way for lost (state `unknown`), in ms.',
  },
  {
    name: 'WORK_POLL_MS',
    defaultText: '2000',
    meaning:
      'How often an idle process asks the database for work that other processes left, in ms: queued sends, emails to be made searchable, changes of the suppression list. What it wrote itself, and what becomes due, it does at once.',
  },
  {
    name: 'MAIL_FROM',
    defaultText: 'email-worker <noreply@localhost>',
    meaning: "The default account's address, with a display name if wanted.",
  },
  {
    name: 'IMAP_URL',
    defaultText: 'none',
    meaning:
      'The mail server whose mailboxes are read for the default account: `imaps://user:pass@host`, or `imap://` with STARTTLS; more in docs/configuration.md. Nothing is ever changed in them.',
  },
  {
    name: 'IMAP_SINCE',
    defaultText: `${FIRST_SYNC_DAYS} days before the first sync`,
    meaning: 'The first sync of a mailbox starts with what came on this day: `2026-01-31`.',
  },
  {
    name: 'IMAP_SENT',
    defaultText: 'what the server says, or its name in many languages',
    meaning: 'The mailbox with sent mail, such as `INBOX.Gesendet`.',
  },
  {
    name: 'JOIN_BY_SUBJECT_DAYS',
    defaultText: 'none',
    meaning:
      'A received reply that names no other email joins one of the same subject and counterparty, if that is not older than so many days.',
  },
  {
    name: 'IMAP_POLL_MS',
    defaultText: '60000',
    meaning:
      'How long a mailbox may go without being checked, in ms, also when the server says at once what is new in INBOX.',
  },
  {
    name: 'IMAP_LEASE_MS',
    defaultText: '30000',
    meaning: 'How long a process may be silent before another one reads its mailboxes, in ms.',
  },
  {
    name: 'ACCOUNTS_FILE',
    defaultText: 'none',
    meaning:
      'JSON file with several accounts, the first being the default one: `[{"id": "sales", "from": "Sales <sales@example.com>", "smtp_url": "${SALES_SMTP_URL}", "imap_url": "${SALES_IMAP_URL}"}]`; more in docs/configuration.md. `${NAME}` is replaced by that environment variable.',
  },
  {
    name: 'BLOB_URL',
    defaultText: 'a folder in `DATA_DIR`',
    meaning:
      'Where attachments are stored: `s3://bucket/prefix?endpoint=https://…&region=…`; see docs/configuration.md.',
  },
  { name: 'AWS_ACCESS_KEY_ID', defaultText: 'none', meaning: 'Access key for an S3 `BLOB_URL`.' },
  { name: 'AWS_SECRET_ACCESS_KEY', defaultText: 'none', meaning: 'Secret key for an S3 `BLOB_URL`.' },
  {
    name: 'MAX_ATTACHMENT_BYTES',
    defaultText: '26214400',
    meaning: 'All attachments of one email together, in bytes of the raw files (25 MiB).',
  },
  {
    name: 'LMTP_LISTEN',
    defaultText: 'none',
    meaning:
      'Where to take received mail by LMTP, `host:port`, from a mail server such as Postfix; `[::1]:2424` for IPv6.',
  },
  {
    name: 'SMTP_LISTEN',
    defaultText: 'none',
    meaning: "The same by SMTP. Only mail to the accounts' addresses is taken, also with `+detail`.",
  },
  {
    name: 'LISTEN_MAX_CLIENTS',
    defaultText: '100',
    meaning:
      'Connections of mail clients at the same time, per listener; for one more, the client that has gone longest without delivering has to go.',
  },
  {
    name: 'LISTEN_MAX_CLIENTS_PER_ADDRESS',
    defaultText: '50',
    meaning: 'Those of one address (or IPv6 network of 64 bits); more get 421. At most all.',
  },
  {
    name: 'LISTEN_TLS_CERT_FILE',
    defaultText: 'none',
    meaning: 'PEM file with the certificate and its chain; with it the listeners offer STARTTLS.',
  },
  { name: 'LISTEN_TLS_KEY_FILE', defaultText: 'none', meaning: 'PEM file with its private key.' },
  {
    name: 'MAX_INBOUND_BYTES',
    defaultText: '52428800',
    meaning: 'One received message, in bytes as it came (50 MiB); larger ones are refused.',
  },
  {
    name: 'READ_PROCESSES',
    defaultText: 'the number of processors, from 2 to 4',
    meaning:
      'Processes that read received mail, so that no mail stops the service; started when there is something to read, and as many again while mail is slow to read.',
  },
  {
    name: 'READ_TIMEOUT_MS',
    defaultText: '5000',
    meaning:
      'Processor time that reading one received message may take, in ms. One that takes more is recorded with its bytes and the defect `not_parsed`.',
  },
  {
    name: 'READ_MEMORY_MB',
    defaultText: '512',
    meaning:
      'Memory that a process which reads one received message may take, in MiB; half of it for the JavaScript heap. The same happens to a message that takes more.',
  },
  {
    name: 'MAX_RECIPIENTS',
    defaultText: '200',
    meaning: 'Recipients of one email: to, cc and bcc together.',
  },
  {
    name: 'LOOP_MAX_EMAILS',
    defaultText: '20',
    meaning:
      'Emails of an automatic exchange (answers to programs, and automatic answers) that go from an account to one address within the window; the next one gets 429, other mail is not affected. 0: no limit.',
  },
  { name: 'LOOP_WINDOW_HOURS', defaultText: '24', meaning: 'That rolling window, in hours.' },
  { name: 'EVENTS_DAYS', defaultText: '30', meaning: 'How long events can be read, in whole days.' },
  {
    name: 'SHUTDOWN_TIMEOUT_MS',
    defaultText: '30000',
    meaning: 'How long running requests may take to finish after SIGTERM or SIGINT, in ms.',
  },
  { name: 'LOG_LEVEL', defaultText: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
] as const satisfies readonly Variable[];

type VariableName = (typeof VARIABLES)[number]['name'];

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly httpMaxConnections: number;
  /** Addresses, or networks such as `10.0.0.0/8`. */
  readonly trustedProxies: readonly string[];
  /** Empty: make one and keep it in the data folder. */
  readonly apiSecrets: readonly string[];
  /** Absolute. */
  readonly dataDir: string;
  /** null: the embedded server. */
  readonly databaseUrl: string | null;
  readonly databasePoolSize: number;
  readonly databaseConnectTimeoutMs: number;
  readonly databaseStatementTimeoutMs: number;
  readonly smtp: {
    readonly maxConnections: number;
    readonly connectTimeoutMs: number;
    readonly greetingTimeoutMs: number;
    readonly commandTimeoutMs: number;
    readonly dataTimeoutMs: number;
  };
  readonly retrySchedule: RetrySchedule;
  readonly sendLeaseMs: number;
  readonly workPollMs: number;
  readonly mailboxes: { readonly pollMs: number; readonly leaseMs: number };
  /** At least one; the first is the default. */
  readonly accounts: readonly [AccountConfig, ...AccountConfig[]];
  /** null: a folder in the data folder. */
  readonly blobUrl: string | null;
  readonly s3Credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  readonly maxAttachmentBytes: number;
  /** null: no listener. */
  readonly lmtpListen: ListenAddress | null;
  readonly smtpListen: ListenAddress | null;
  readonly listenClients: { readonly max: number; readonly maxPerAddress: number };
  /** PEM; null: no STARTTLS. */
  readonly listenTls: { readonly cert: string; readonly key: string } | null;
  /** Files that may hold secrets; absolute, and not all of them need to be there. */
  readonly secretFiles: readonly string[];
  readonly maxInboundBytes: number;
  readonly reading: { readonly processes: number; readonly timeoutMs: number; readonly memoryMb: number };
  readonly maxRecipients: number;
  /** null: none. */
  readonly loopLimit: LoopLimit | null;
  readonly eventsDays: number;
  readonly shutdownTimeoutMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const MIN_SECRET_LENGTH = 16;

/** Reads the environment; an empty variable counts as absent. Throws ConfigError. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const get = (name: VariableName): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const integer = (name: VariableName, fallback: number, min: number, max: number): number => {
    const text = get(name);
    if (text === null) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max))
      throw new ConfigError(name, `must be a whole number from ${min} to ${max}`);
    return value;
  };
  const milliseconds = (name: VariableName, fallback: number) => integer(name, fallback, 1, 86_400_000);

  const logLevel = LOG_LEVELS.find((level) => level === (get('LOG_LEVEL') ?? 'info'));
  if (logLevel === undefined) throw new ConfigError('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`);

  const loopMaxEmails = integer('LOOP_MAX_EMAILS', 20, 0, 10_000);
  return Object.freeze({
    port: integer('PORT', 3000, 0, 65_535),
    host: get('HOST') ?? '127.0.0.1',
    httpMaxConnections: integer('HTTP_MAX_CONNECTIONS', 500, 1, 100_000),
    trustedProxies: readNetworks('TRUSTED_PROXIES', get('TRUSTED_PROXIES')),
    apiSecrets: readSecrets(get('API_SECRET')),
    dataDir: path.resolve(cwd, get('DATA_DIR') ?? 'data'),
    databaseUrl: readUrl('DATABASE_URL', get('DATABASE_URL'), ['postgres:', 'postgresql:']),
    databasePoolSize: integer('DATABASE_POOL_SIZE', 10, 2, 1000),
    databaseConnectTimeoutMs: milliseconds('DATABASE_CONNECT_TIMEOUT_MS', 3000),
    databaseStatementTimeoutMs: milliseconds('DATABASE_STATEMENT_TIMEOUT_MS', 10_000),
    smtp: {
      maxConnections: integer('SMTP_MAX_CONNECTIONS', 10, 1, 1000),
      connectTimeoutMs: milliseconds('SMTP_CONNECT_TIMEOUT_MS', 30_000),
      greetingTimeoutMs: milliseconds('SMTP_GREETING_TIMEOUT_MS', 30_000),
      commandTimeoutMs: milliseconds('SMTP_COMMAND_TIMEOUT_MS', 60_000),
      dataTimeoutMs: milliseconds('SMTP_DATA_TIMEOUT_MS', 600_000),
    },
    retrySchedule: readRetrySchedule(get('SEND_RETRY_DELAYS_S'), get('SEND_GIVE_UP_HOURS')),
    sendLeaseMs: integer('SEND_LEASE_MS', 30_000, 100, 3_600_000),
    workPollMs: integer('WORK_POLL_MS', 2000, 10, 60_000),
    mailboxes: {
      pollMs: integer('IMAP_POLL_MS', 60_000, 50, 3_600_000),
      leaseMs: integer('IMAP_LEASE_MS', 30_000, 500, 3_600_000),
    },
    accounts: readAccounts(env, cwd, get),
    blobUrl: readUrl('BLOB_URL', get('BLOB_URL'), ['s3:']),
    s3Credentials: readCredentials(get('AWS_ACCESS_KEY_ID'), get('AWS_SECRET_ACCESS_KEY')),
    maxAttachmentBytes: integer('MAX_ATTACHMENT_BYTES', 25 * 1024 * 1024, 1, 1024 * 1024 * 1024),
    lmtpListen: readListen('LMTP_LISTEN', get('LMTP_LISTEN')),
    smtpListen: readListen('SMTP_LISTEN', get('SMTP_LISTEN')),
    listenClients: {
      max: integer('LISTEN_MAX_CLIENTS', 100, 1, 10_000),
      maxPerAddress: integer('LISTEN_MAX_CLIENTS_PER_ADDRESS', 50, 1, 10_000),
    },
    listenTls: readTls(cwd, get('LISTEN_TLS_CERT_FILE'), get('LISTEN_TLS_KEY_FILE')),
    secretFiles: ['.env', get('ACCOUNTS_FILE'), get('LISTEN_TLS_KEY_FILE')].flatMap((file) =>
      file === null ? [] : [path.resolve(cwd, file)],
    ),
    maxInboundBytes: integer('MAX_INBOUND_BYTES', 50 * 1024 * 1024, 1, 1024 * 1024 * 1024),
    reading: {
      processes: integer('READ_PROCESSES', Math.min(4, Math.max(2, availableParallelism())), 1, 64),
      timeoutMs: milliseconds('READ_TIMEOUT_MS', 5000),
      memoryMb: integer('READ_MEMORY_MB', 512, 128, 16_384),
    },
    maxRecipients: integer('MAX_RECIPIENTS', 200, 1, 10_000),
    loopLimit:
      loopMaxEmails === 0
        ? null
        : { maxEmails: loopMaxEmails, windowMs: integer('LOOP_WINDOW_HOURS', 24, 1, 24 * 366) * 3_600_000 },
    eventsDays: integer('EVENTS_DAYS', 30, 1, 3650),
    shutdownTimeoutMs: milliseconds('SHUTDOWN_TIMEOUT_MS', 30_000),
    logLevel,
  });
}

function readSecrets(text: string | null): readonly string[] {
  if (text === null) return [];
  const secrets = text.split(',').map((secret) => secret.trim());
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) {
      throw new ConfigError('API_SECRET', `must have at least ${MIN_SECRET_LENGTH} characters`);
    }
    // RFC 9110 §5.5: what can stand in a header field
    if (!/^[\x21-\x7e]+$/.test(secret))
      throw new ConfigError('API_SECRET', 'must be printable ASCII without spaces');
  }
  return secrets;
}

function readCredentials(
  accessKeyId: string | null,
  secretAccessKey: string | null,
): Config['s3Credentials'] {
  if (accessKeyId === null && secretAccessKey === null) return null;
  if (accessKeyId === null)
    throw new ConfigError('AWS_ACCESS_KEY_ID', 'is missing beside AWS_SECRET_ACCESS_KEY');
  if (secretAccessKey === null)
    throw new ConfigError('AWS_SECRET_ACCESS_KEY', 'is missing beside AWS_ACCESS_KEY_ID');
  return { accessKeyId, secretAccessKey };
}

/** A year, in hours: beyond it a typing error is likelier than a wish. */
const MAX_GIVE_UP_HOURS = 8760;
const MAX_RETRY_DELAY_S = 7 * 86_400;

function readRetrySchedule(delays: string | null, giveUp: string | null): RetrySchedule {
  const number = (name: VariableName, text: string, max: number): number => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text.trim()) ? Number(text) : NaN;
    if (value > 0 && value <= max) return value;
    const isList = name === 'SEND_RETRY_DELAYS_S';
    const kind = isList ? 'must be numbers with commas between them, each' : 'must be a number';
    throw new ConfigError(name, `${kind} above 0 and at most ${max}`);
  };
  const [first, ...others] = (delays?.split(',') ?? []).map((text) =>
    Math.ceil(number('SEND_RETRY_DELAYS_S', text, MAX_RETRY_DELAY_S) * 1000),
  );
  return {
    delaysMs: first === undefined ? DEFAULT_RETRY_SCHEDULE.delaysMs : [first, ...others],
    giveUpAfterMs:
      giveUp === null
        ? DEFAULT_RETRY_SCHEDULE.giveUpAfterMs
        : Math.ceil(number('SEND_GIVE_UP_HOURS', giveUp, MAX_GIVE_UP_HOURS) * 3_600_000),
  };
}

/** The table of variables for `--help`. */
export function formatVariables(): string {
  return VARIABLES.map(
    (variable) => `  ${variable.name}\n      ${variable.meaning}\n      Default: ${variable.defaultText}`,
  ).join('\n');
}
