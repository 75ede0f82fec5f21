/**
 * The mail server whose mailboxes are read, as one URL: `imaps://user:password@host?name=value`. IMAP_URL_PARAMETERS lists the names of the
 * query parameters.
 */
import {
  isLoopback,
  parseServerUrl,
  readLimits,
  SERVER_URL_PARAMETERS,
  type ServerOptions,
} from '../../core/server-url.ts';

export interface ImapLimits {
  /** Name lookup, connecting, greeting, TLS and login together. Default 30,000 ms. */
  readonly connectTimeoutMs: number;
  /** Silence of the server while a command is under way. Default 120,000 ms: some servers take long to search. */
  readonly commandTimeoutMs: number;
  /**
   * IDLE is renewed after this, so that a dead line is noticed and no server logs us out (RFC 2177: within 29 minutes).
   * Default 300,000 ms.
   */
  readonly idleRenewMs: number;
}

/** All settings of the mail server. */
export interface ImapOptions extends ImapLimits, ServerOptions {
  readonly user: string;
  /** null: an OAuth2 token is used instead. */
  readonly password: string | null;
}

export const DEFAULT_IMAP_LIMITS: ImapLimits = {
  connectTimeoutMs: 30_000,
  commandTimeoutMs: 120_000,
  idleRenewMs: 300_000,
};

/** RFC 2177: a client that idles longer may be logged out. */
const MAX_IDLE_MS = 29 * 60_000;

const LIMIT_PARAMETERS: Readonly<Record<string, keyof ImapLimits>> = {
  connect_timeout_ms: 'connectTimeoutMs',
  command_timeout_ms: 'commandTimeoutMs',
  idle_renew_ms: 'idleRenewMs',
};

/** Every query parameter, with its values. */
export const IMAP_URL_PARAMETERS: Readonly<Record<string, string>> = {
  starttls:
    '`required`, `if_offered` (default) or `off`; only with `imap://`. Without TLS the service does not log in, except on this machine or with `allow_plaintext_auth`',
  auth_method: '`PLAIN`, or `LOGIN` for the LOGIN command; default: what the server offers',
  ...SERVER_URL_PARAMETERS,
  connect_timeout_ms: 'name lookup, connecting, TLS and login together; default 30000',
  command_timeout_ms: 'silence of the server during a command; default 120000',
  idle_renew_ms: 'interval of renewing IDLE and detecting dead connections; default 300000, at most 1740000',
};

const RULES = {
  plain: { protocol: 'imap:', port: 143 },
  implicit: { protocol: 'imaps:', port: 993 },
  parameters: IMAP_URL_PARAMETERS,
  authMethods: ['PLAIN', 'LOGIN'],
};

/**
 * Reads a URL such as `imaps://user:password@host`. Credentials are percent-encoded (UTF-8). The port is 993 for `imaps://` and 143 for
 * `imap://` when the URL has none.
 *
 * @param hasToken an OAuth2 token can take the place of a password
 * @throws {Error} with an English message that contains no part of the URL except parameter names and their values
 */
export function parseImapUrl(text: string, hasToken: boolean): ImapOptions {
  const { options, user, password, query } = parseServerUrl(text, RULES);
  if (user === '') throw new Error('it has no user');
  if (password === '' && !hasToken) throw new Error('it has no password');
  const limits = { ...DEFAULT_IMAP_LIMITS, ...readLimits(query, LIMIT_PARAMETERS) };
  if (limits.idleRenewMs > MAX_IDLE_MS) throw new Error(`idle_renew_ms must be at most ${MAX_IDLE_MS}`);
  if (options.tls === 'off' && !mayLoginInPlainText(options)) {
    throw new Error('starttls=off needs allow_plaintext_auth=true');
  }
  return { ...limits, ...options, user, password: password === '' ? null : password };
}

export function mayLoginInPlainText(options: ServerOptions): boolean {
  return options.allowPlaintextAuth || isLoopback(options.host);
}
