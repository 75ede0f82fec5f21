/**
 * The mail server that takes our mail, as one URL: `smtp://user:password@host:587?name=value`. SMTP_URL_PARAMETERS lists the names of the
 * query parameters.
 */
import {
  parseServerUrl,
  readLimits,
  SERVER_URL_PARAMETERS,
  type ServerOptions,
} from '../../core/server-url.ts';

/** Bounds on time and number. RFC 5321 §4.5.3.2 gives the minutes that a client should wait; ours are in the comments. */
export interface SmtpLimits {
  /** Name lookup, connecting, greeting and TLS together. Default 30,000 ms. */
  readonly connectTimeoutMs: number;
  /** Waiting for the greeting, or for a TLS handshake; never beyond `connectTimeoutMs`. Default 30,000 ms. */
  readonly greetingTimeoutMs: number;
  /** Silence of the server while a command or a piece of the message is under way. Default 60,000 ms. */
  readonly commandTimeoutMs: number;
  /**
   * From the end of the message to the server's reply; when it passes, the outcome is unknown. The standard gives 10 minutes (§4.5.3.2.6),
   * as a late reply leads to a second copy elsewhere. Default 600,000 ms.
   */
  readonly dataTimeoutMs: number;
  /** An unused connection is closed after this time. Default 30,000 ms. */
  readonly idleTimeoutMs: number;
  /** How long a message may wait for a connection before it is refused for now. Default 60,000 ms. */
  readonly queueTimeoutMs: number;
  /** Connections at the same time. Default 10. */
  readonly maxConnections: number;
  /** A connection is closed after this many messages. Default 100, the limit of many servers. */
  readonly maxMessagesPerConnection: number;
  /** Messages that wait for a connection; one more is refused for now. Default 1,000. */
  readonly maxQueueLength: number;
}

/** All settings of the mail server. */
export interface SmtpOptions extends SmtpLimits, ServerOptions {
  /** null: no AUTH. Without a password an OAuth2 token is used. */
  readonly credentials: { readonly user: string; readonly password: string | null } | null;
  /** The name in EHLO; null: the name of this machine when it has a dot, else `[127.0.0.1]`. */
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

/** Query parameter → the limit that it sets. */
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
  ...SERVER_URL_PARAMETERS,
  name: 'name in EHLO; default: the name of this machine',
  connect_timeout_ms: 'name lookup, connecting, greeting and TLS together',
  greeting_timeout_ms: 'waiting for the greeting or a TLS handshake',
  command_timeout_ms: 'silence of the server during a command or the message',
  data_timeout_ms: 'from the end of the message to the reply; then the outcome is unknown',
  idle_timeout_ms: 'an unused connection is closed after this',
  queue_timeout_ms: 'maximum wait of a message for a connection',
  max_connections: 'maximum number of connections',
  max_messages_per_connection: 'a connection is closed after this many messages',
  max_queue_length: 'maximum number of messages that wait for a connection',
};

const RULES = {
  plain: { protocol: 'smtp:', port: 587 },
  implicit: { protocol: 'smtps:', port: 465 },
  parameters: SMTP_URL_PARAMETERS,
  authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5'],
};

/**
 * Reads a URL such as `smtp://user:password@host:587?starttls=required`. Credentials are percent-encoded (UTF-8). The port is 587
 * (submission, RFC 6409) for `smtp://` and 465 for `smtps://` when the URL has none.
 *
 * @param limits defaults for settings that the query does not set
 * @param hasToken an OAuth2 token can take the place of a password
 * @throws {Error} with an English message that contains no part of the URL except parameter names and their values
 */
export function parseSmtpUrl(text: string, limits: Partial<SmtpLimits> = {}, hasToken = false): SmtpOptions {
  const { options, user, password, query } = parseServerUrl(text, RULES);
  if (user === '' ? password !== '' : password === '' && !hasToken) {
    throw new Error('user and password must be given together');
  }
  return {
    ...DEFAULT_SMTP_LIMITS,
    ...limits,
    ...readLimits(query, LIMIT_PARAMETERS),
    ...options,
    credentials: user === '' ? null : { user, password: password === '' ? null : password },
    clientName: parseClientName(query.get('name') ?? null),
  };
}

// RFC 5321 §4.1.2: EHLO takes a domain or an address literal; a space or a line break would be another command.
function parseClientName(name: string | null): string | null {
  if (name !== null && !/^(?:[A-Za-z0-9._-]+|\[[0-9A-Za-z:.]+\])$/.test(name)) {
    throw new Error('name must be a domain or an address literal');
  }
  return name;
}
