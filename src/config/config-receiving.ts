/** Settings for taking and reading mail: received mail, and mail that other programs send. The mailboxes themselves are in config-accounts.ts. */
import { Resolver } from 'node:dns';
import { availableParallelism } from 'node:os';
import { LONGEST_LEASE_MS } from '../platform/base/leases.ts';
import { ConfigError } from './config-error.ts';
import { readListen } from './config-values.ts';
import { integer, milliseconds, readAll, variable, type Environment } from './variable.ts';

export const MAILBOX_VARIABLES = {
  pollMs: integer(
    'IMAP_POLL_MS',
    60_000,
    { min: 50, max: 3_600_000 },
    'How often each mailbox is checked, in ms, even when the server announces new mail in INBOX.',
  ),
  leaseMs: integer(
    'IMAP_LEASE_MS',
    30_000,
    { min: 500, max: LONGEST_LEASE_MS },
    'How long a process may be silent before another one reads its mailboxes, in ms.',
  ),
};

function readSwitch(name: string, value: string | null): boolean {
  if (value === null || value === 'false') return false;
  if (value === 'true') return true;
  throw new ConfigError(name, 'must be true or false');
}

function readDnsServers(name: string, value: string | null): readonly string[] {
  const servers = value === null ? [] : value.split(',').map((server) => server.trim());
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new ConfigError(name, 'must be IP addresses with commas between them, each with a port if wanted');
  }
  return servers;
}

const MAX_CLIENTS = { min: 1, max: 10_000 };

export const LISTENER_VARIABLES = {
  /** null: no listener. */
  lmtpListen: variable('LMTP_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'none',
    meaning:
      'Address for received mail by LMTP, `host:port`, from a mail server such as Postfix; `[::1]:2424` for IPv6.',
  }),
  smtpListen: variable('SMTP_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'none',
    meaning:
      "Address for received mail by SMTP. Only mail to the accounts' addresses is accepted, also with `+detail`.",
  }),
  submissionListen: variable('SUBMISSION_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'none',
    meaning:
      'Address at which programs of the company send by SMTP, `host:port`, usually with port 587; log-ins only after STARTTLS. Needs ' +
      'a certificate. See [smtp.md](api/smtp.md).',
  }),
  submissionsListen: variable('SUBMISSIONS_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'none',
    meaning: 'The same with TLS from the beginning of each connection, usually with port 465.',
  }),
  maxSubmissionBytes: integer(
    'SUBMISSION_MAX_BYTES',
    50 * 1024 * 1024,
    { min: 1024, max: 1024 * 1024 * 1024 },
    'Maximum size of one message sent by SMTP, in bytes (50 MiB), with its attachments in Base64; larger ones are refused.',
  ),
  checkSenders: variable('SMTP_CHECK_SENDERS', {
    parse: (value, name) => readSwitch(name, value),
    defaultText: 'false',
    meaning:
      '`true` when SMTP_LISTEN receives mail directly from the internet: checks SPF, DKIM, DMARC and ARC of each message. Not ' +
      'behind another mail server, whose address would be taken for that of the sender.',
  }),
  checkSignatures: variable('LMTP_CHECK_SIGNATURES', {
    parse: (value, name) => readSwitch(name, value),
    defaultText: 'false',
    meaning:
      '`true`: checks DKIM and ARC of each message by LMTP, and DMARC by them, unless the Authentication-Results of ' +
      'TRUSTED_AUTHSERV_IDS contain the result. Only behind a mail server that does not change messages.',
  }),
  dnsServers: variable('DNS_SERVERS', {
    parse: (value, name) => readDnsServers(name, value),
    defaultText: 'those of the system',
    meaning: 'DNS servers for these checks, such as `127.0.0.1,[::1]:5353`.',
  }),
  max: integer(
    'LISTEN_MAX_CLIENTS',
    100,
    MAX_CLIENTS,
    'Maximum number of mail client connections per listener; a further one replaces the client with the longest time since its ' +
      'last delivery.',
  ),
  maxPerAddress: integer(
    'LISTEN_MAX_CLIENTS_PER_ADDRESS',
    50,
    MAX_CLIENTS,
    'Maximum number of mail client connections of one address (or IPv6 network of 64 bits); further ones get 421. At most ' +
      'LISTEN_MAX_CLIENTS.',
  ),
  maxInboundBytes: integer(
    'MAX_INBOUND_BYTES',
    50 * 1024 * 1024,
    { min: 1, max: 1024 * 1024 * 1024 },
    'Maximum size of one received message, in bytes (50 MiB); larger ones are refused.',
  ),
};

export function readListeners(env: Environment) {
  const { max, maxPerAddress, checkSenders, checkSignatures, dnsServers, ...listeners } = readAll(
    LISTENER_VARIABLES,
    env,
  );
  return {
    ...listeners,
    listenClients: { max, maxPerAddress },
    /** The checks of received mail, and the DNS servers for them. */
    senderCheck: { smtp: checkSenders, lmtp: checkSignatures, dnsServers },
  };
}

export const READING_VARIABLES = {
  processes: integer(
    'READ_PROCESSES',
    Math.min(4, Math.max(2, availableParallelism())),
    { min: 1, max: 64 },
    'Processes that parse received mail, so that no mail stops the service; started on demand, and as many again while mail is ' +
      'slow to parse.',
    'the number of processors, from 2 to 4',
  ),
  timeoutMs: milliseconds(
    'READ_TIMEOUT_MS',
    5000,
    'Maximum processor time for parsing one received message, in ms. After that it is recorded with its bytes and the defect ' +
      '`not_parsed`.',
  ),
  memoryMb: integer(
    'READ_MEMORY_MB',
    512,
    { min: 128, max: 16_384 },
    'Maximum memory for parsing one received message, in MiB; half of it for the JavaScript heap. Beyond that it is recorded ' +
      'with its bytes and the defect `not_parsed`.',
  ),
};
