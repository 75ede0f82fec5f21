/**
 * The mail server that takes our mail, as one URL: `smtp://user:password@host:587?name=value`.
 * The form follows RFC 3986; the names of the query parameters are ours and are listed at SMTP_URL_PARAMETERS.
 */
import { domainToASCII } from 'node:url';
import { isIPv4, isIPv6 } from 'node:net';

/**
 * How the connection gets its TLS.
 * - `implicit`: from the first byte (RFC 8314 §3.3), `smtps://`.
 * - `required`: STARTTLS (RFC 3207), and no mail without it.
 * - `if_offered`: STARTTLS when the server offers it; plain text else, but then without credentials.
 * - `off`: never.
 */
type TlsMode = 'implicit' | 'required' | 'if_offered' | 'off';

/** Bounds of time and number. RFC 5321 §4.5.3.2 names the minutes a client should wait; ours are in the comments. */
export interface SmtpLimits {
  /** Name lookup, connecting, greeting and TLS together. Default 30,000 ms. */
  readonly connectTimeoutMs: number;
  /** Waiting for the greeting, or for a TLS handshake; never beyond `connectTimeoutMs`. Default 30,000 ms. */
  readonly greetingTimeoutMs: number;
  /** Silence of the server while a command or a piece of the message is under way. Default 60,000 ms. */
  readonly commandTimeoutMs: number;
  /**
   * From the end of the message to the server's reply; when it passes, the outcome is unknown. The standard says
   * 10 minutes (§4.5.3.2.6), as a reply that comes late leads to a second copy elsewhere. Default 600,000 ms.
   */
  readonly dataTimeoutMs: number;
  /** An unused connection is closed after this time. Default 30,000 ms. */
  readonly idleTimeoutMs: number;
  /** How long a message may wait for a connection before it is refused for now. Default 60,000 ms. */
  readonly queueTimeoutMs: number;
  /** Connections at the same time. Default 10. */
  readonly maxConnections: number;
  /** A connection is closed after this many messages. Default 100, as many servers count. */
  readonly maxMessagesPerConnection: number;
  /** Messages that wait for a connection; one more is refused for now. Default 1,000. */
  readonly maxQueueLength: number;
}

/** Everything that is known about the mail server. */
export interface SmtpOptions extends SmtpLimits {
  /** A name in lower-case ASCII, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** null: no AUTH. */
  readonly credentials: { readonly user: string; readonly password: string } | null;
  /** SASL mechanism (`PLAIN`, `LOGIN`, `CRAM-MD5`); null takes the first of these that the server offers. */
  readonly authMethod: string | null;
  /** Credentials may cross the network without TLS. Always allowed to a loopback address. Default false. */
  readonly allowPlaintextAuth: boolean;
  /** The server's certificate is checked. Default true. */
  readonly tlsVerify: boolean;
  /** PEM file with the authorities to trust in place of the built-in ones; read at each connect. Default null. */
  readonly tlsCaFile: string | null;
  /** The name to ask for and to check in the certificate; null: `host`. */
  readonly tlsServername: string | null;
  /** What EHLO says; null: the name of this machine when it has a dot, `[127.0.0.1]` else. */
  readonly clientName: string | null;
}

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  connectTimeoutMs: 30_000,
  greetingTimeoutMs: 30_000,
  commandTimeoutMs: 60_000,
  dataTimeoutMs: 600_000,
  idleTimeoutMs: 30_000,
  queueTimeoutMs: 60_000,
  maxConnections: 10,
  maxMessagesPerConnection: 100,
  maxQueueLength: 1_000,
};

/** The longest time that a timer of Node.js can wait, in ms. */
const MAX_TIMER_MS = 2_147_483_647;

/** Query parameter → the limit it sets. */
const LIMIT_PARAMETERS: Readonly<Record<string, keyof SmtpLimits>> = {
  connect_timeout_ms: 'connectTimeoutMs',
  greeting_timeout_ms: 'greetingTimeoutMs',
  command_timeout_ms: 'commandTimeoutMs',
  data_timeout_ms: 'dataTimeoutMs',
  idle_timeout_ms: 'idleTimeoutMs',
  queue_timeout_ms: 'queueTimeoutMs',
  max_connections: 'maxConnections',
  max_messages_per_connection: 'maxMessagesPerConnection',
  max_queue_length: 'maxQueueLength',
};

/** Every query parameter, with its values. */
export const SMTP_URL_PARAMETERS: Readonly<Record<string, string>> = {
  starttls: '`required`, `if_offered` (default) or `off`; only with `smtp://`',
  auth_method: '`PLAIN`, `LOGIN` or `CRAM-MD5`; default: the first of these that the server offers',
  allow_plaintext_auth: '`true` sends credentials without TLS to a host that is not this machine',
  tls_verify: '`false` accepts any certificate',
  tls_ca: 'PEM file with the authorities to trust in place of the built-in ones',
  tls_servername: 'name to ask for and to check in the certificate; default: the host',
  name: 'what EHLO says; default: the name of this machine',
  connect_timeout_ms: 'name lookup, connecting, greeting and TLS together',
  greeting_timeout_ms: 'waiting for the greeting or a TLS handshake',
  command_timeout_ms: 'silence of the server during a command or the message',
  data_timeout_ms: 'from the end of the message to the reply; then the outcome is unknown',
  idle_timeout_ms: 'an unused connection is closed after this',
  queue_timeout_ms: 'how long a message may wait for a connection',
  max_connections: 'connections at the same time',
  max_messages_per_connection: 'a connection is closed after this many messages',
  max_queue_length: 'messages that wait for a connection',
};

const AUTH_METHODS = ['PLAIN', 'LOGIN', 'CRAM-MD5'];

/**
 * Reads a URL such as `smtp://user:password@host:587?starttls=required`. Credentials are percent-encoded (UTF-8).
 * The port is 587 (submission, RFC 6409) for `smtp://` and 465 for `smtps://` when the URL has none.
 *
 * @param limits defaults for what the query does not set
 * @throws {Error} with an English message that holds no part of the URL but parameter names and their values
 */
export function parseSmtpUrl(text: string, limits: Partial<SmtpLimits> = {}): SmtpOptions {
  if (!URL.canParse(text)) {
    throw new Error('it is not a URL; special characters of user and password must be percent-encoded');
  }
  const url = new URL(text);
  const implicit = url.protocol === 'smtps:';
  if (!implicit && url.protocol !== 'smtp:') throw new Error('it must start with smtp:// or smtps://');
  if (!['', '/'].includes(url.pathname) || url.hash !== '') {
    throw new Error(
      'it must not have a path or a fragment; # and / of a password are written as %23 and %2F',
    );
  }
  const host = parseHost(url.hostname);
  if (url.port === '0') throw new Error('the port must not be 0');
  const query = readQuery(url.searchParams);
  const startTls = oneOf(query, 'starttls', ['required', 'if_offered', 'off'] as const);
  if (implicit && startTls !== null) throw new Error('starttls makes no sense with smtps://');
  return {
    ...DEFAULT_SMTP_LIMITS,
    ...limits,
    ...parseLimits(query),
    host,
    port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
    tls: implicit ? 'implicit' : (startTls ?? 'if_offered'),
    credentials: parseCredentials(url),
    authMethod: oneOf(query, 'auth_method', AUTH_METHODS),
    allowPlaintextAuth: oneOf(query, 'allow_plaintext_auth', ['true', 'false']) === 'true',
    tlsVerify: oneOf(query, 'tls_verify', ['true', 'false']) !== 'false',
    tlsCaFile: query.get('tls_ca') ?? null,
    tlsServername: query.get('tls_servername') ?? null,
    clientName: parseClientName(query.get('name') ?? null),
  };
}

/** True for this machine: credentials to it cross no network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function parseHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  const host = domainToASCII(percentDecode(hostname, 'the host'));
  if (host === '' || isIPv6(host)) throw new Error('it has no valid host');
  return host;
}

function parseCredentials(url: URL): SmtpOptions['credentials'] {
  const user = percentDecode(url.username, 'the user');
  const password = percentDecode(url.password, 'the password');
  if (user === '' && password === '') return null;
  if (user === '' || password === '') throw new Error('user and password must be given together');
  // RFC 4616 §2: NUL separates the fields of PLAIN.
  if (/\0/.test(user + password)) throw new Error('user and password must not contain NUL');
  return { user, password };
}

function percentDecode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`${what} is not valid percent-encoding`);
  }
}

function readQuery(parameters: URLSearchParams): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (!Object.hasOwn(SMTP_URL_PARAMETERS, name)) throw new Error(`unknown parameter ${name}`);
    if (query.has(name)) throw new Error(`${name} is given twice`);
    if (value === '') throw new Error(`${name} is empty`);
    query.set(name, value);
  }
  return query;
}

function oneOf<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  allowed: readonly T[],
): T | null {
  const value = query.get(name);
  if (value === undefined) return null;
  const found = allowed.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new Error(`${name} must be ${allowed.join(', ')}, not ${value}`);
  return found;
}

/** A limit of 0, NaN or beyond the range must not switch a guard off. */
function parseLimits(query: ReadonlyMap<string, string>): Partial<SmtpLimits> {
  const limits: { -readonly [K in keyof SmtpLimits]?: number } = {};
  for (const [name, key] of Object.entries(LIMIT_PARAMETERS)) {
    const text = query.get(name);
    if (text === undefined) continue;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > MAX_TIMER_MS)
      throw new Error(`${name} must be a whole number from 1, not ${text}`);
    limits[key] = value;
  }
  return limits;
}

// RFC 5321 §4.1.2: EHLO takes a domain or an address literal; a space or a line break would be another command.
function parseClientName(name: string | null): string | null {
  if (name !== null && !/^(?:[A-Za-z0-9._-]+|\[[0-9A-Za-z:.]+\])$/.test(name)) {
    throw new Error('name must be a domain or an address literal');
  }
  return name;
}
