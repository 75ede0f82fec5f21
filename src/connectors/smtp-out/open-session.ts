/**
 * Sets up an SMTP session: connect, greeting, EHLO (RFC 5321 §3.1, §3.2), TLS (RFC 3207, RFC 8314), AUTH (RFC 4954). Credentials cross no
 * network in plain text, and no error thrown from here contains them.
 */
import { readFile } from 'node:fs/promises';
import XOAuth2 from 'nodemailer/lib/xoauth2';
import { MIN_TLS_VERSION } from '../../platform/base/tls.ts';
import { cleanReplyText, formatReply, parseReply } from '../../core/delivery/reply.ts';
import type { Reply } from '../../core/delivery/states.ts';
import { isLoopback } from '../../core/server-url.ts';
import { Connection, type LibraryError } from './smtp-connection.ts';
import { createSession, type SmtpSession } from './smtp-session.ts';
import type { SmtpOptions } from './smtp-url.ts';

/** More than this is no honest reply. nodemailer's own bound is 1 MB. */
const MAX_REPLY_BYTES = 64 * 1024;

const TOO_LONG = 'it took too long';

/** No session could be opened, so nothing was handed over. The message is safe to show: it contains no secret. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
  /** The reply that ended the set-up; null when there was none. */
  readonly reply: Reply | null;

  constructor(message: string, reply: Reply | null = null) {
    super(message);
    this.reply = reply;
  }
}

/** OAuth2 access tokens of one account (RFC 6750), sent by XOAUTH2. */
export interface LoginTokens {
  /** A token that is still valid. */
  get(): Promise<string>;
  /** Reports that the server refused the token. */
  reject(token: string): void;
}

export interface SessionOptions extends SmtpOptions {
  /** For credentials without a password. */
  readonly tokens?: LoginTokens;
  /** Cuts the set-up short: a server that sends something now and then is never silent. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/**
 * @param onConnected receives the socket, after TLS and before the log-in
 * @throws {SessionError}
 */
export async function openSession(
  options: SessionOptions,
  onConnected: (socket: unknown) => void = () => undefined,
): Promise<SmtpSession> {
  const connection = new Connection({
    host: options.host,
    port: options.port,
    secure: options.tls === 'implicit',
    requireTLS: options.tls === 'required',
    ignoreTLS: options.tls === 'off',
    ...(options.clientName === null ? {} : { name: options.clientName }),
    connectionTimeout: options.connectTimeoutMs,
    greetingTimeout: options.greetingTimeoutMs,
    dnsTimeout: options.connectTimeoutMs,
    // The socket's timer runs from the first moment, so it must not cut the greeting short.
    socketTimeout: Math.max(options.greetingTimeoutMs, options.commandTimeoutMs),
    socketCloseTimeout: 0,
    maxResponseSize: MAX_REPLY_BYTES,
    allowInternalNetworkInterfaces: isLoopback(options.host),
    tls: {
      minVersion: MIN_TLS_VERSION,
      rejectUnauthorized: options.tlsVerify,
      ...(options.tlsServername === null ? {} : { servername: options.tlsServername }),
      ...(options.tlsCaFile === null ? {} : { ca: await readAuthorities(options.tlsCaFile) }),
    },
  });
  const { signal } = options;
  const cut = () => connection.abort(new Error(TOO_LONG));
  signal?.addEventListener('abort', cut, { once: true });
  try {
    if (signal?.aborted === true) throw new SessionError(TOO_LONG);
    await connection.run<void>((done) => connection.library.connect(done));
    connection.setSocketTimeout(options.commandTimeoutMs);
    onConnected(connection.socket);
    await authenticate(connection, options);
  } catch (error) {
    connection.destroy();
    throw toSessionError(error, options);
  } finally {
    signal?.removeEventListener('abort', cut);
  }
  return createSession(connection, options);
}

async function readAuthorities(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new SessionError(`the file of trusted certificates can't be read: ${code}`);
  }
}

async function authenticate(connection: Connection, options: SessionOptions): Promise<void> {
  const { credentials } = options;
  if (credentials === null) return;
  if (!connection.library.secure && !options.allowPlaintextAuth && !isLoopback(options.host)) {
    // This is also the result when an attacker on the line removes STARTTLS from the server's answer.
    throw new SessionError('the mail server offers no TLS, so the credentials are not sent');
  }
  if (!connection.library.allowsAuth) throw new SessionError('the mail server offers no AUTH');
  const { user, password } = credentials;
  if (password === null) {
    await authenticateByToken(connection, user, options.tokens);
    return;
  }
  const method = options.authMethod === null ? {} : { method: options.authMethod };
  await connection.run<boolean>((done) =>
    connection.library.login({ user, pass: password, ...method }, done),
  );
}

/** A token that the server refuses may have been revoked meanwhile: a new one is tried once. */
async function authenticateByToken(
  connection: Connection,
  user: string,
  tokens: LoginTokens | undefined,
): Promise<void> {
  if (tokens === undefined) throw new SessionError('there is no OAuth2 token for this account');
  const token = await getToken(tokens);
  try {
    await loginByToken(connection, user, token);
  } catch (error) {
    tokens.reject(token);
    const another = connection.ended ? token : await getToken(tokens);
    if (another === token) throw withoutToken(error, user, token);
    await loginByToken(connection, user, another).catch((failure: unknown) => {
      throw withoutToken(failure, user, another);
    });
  }
}

async function getToken(tokens: LoginTokens): Promise<string> {
  try {
    return await tokens.get();
  } catch (error) {
    throw new SessionError(
      `the mail server needs an OAuth2 token: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function loginByToken(connection: Connection, user: string, token: string): Promise<void> {
  // When the server asks for another token, there is none but this one.
  const oauth2 = new XOAuth2({ user, accessToken: token });
  await connection.run<boolean>((done) =>
    connection.library.login({ user, method: 'XOAUTH2', oauth2 }, done),
  );
}

/** Seen in practice: servers that quote the AUTH line that they refuse. */
function withoutToken(error: unknown, user: string, token: string): unknown {
  if (!(error instanceof Error)) return error;
  const line = toBase64(`user=${user}\x01auth=Bearer ${token}\x01\x01`);
  const clean = (text: string): string => text.replaceAll(line, '***').replaceAll(token, '***');
  error.message = clean(error.message);
  if ('response' in error && typeof error.response === 'string') {
    Object.assign(error, { response: clean(error.response) });
  }
  return error;
}

function toSessionError(error: unknown, options: SmtpOptions): SessionError {
  if (error instanceof SessionError) return error;
  const failure: LibraryError = error instanceof Error ? error : new Error(String(error));
  const where = `connection to ${options.host}:${options.port}`;
  const reply = parseReply(redact(failure.response ?? '', options));
  if (reply === null) {
    return new SessionError(`${where} failed: ${cleanReplyText(redact(failure.message, options))}`);
  }
  const step = failure.command ?? 'CONN';
  const what = step === 'CONN' ? 'refused' : `failed, ${step} was refused`;
  return new SessionError(`${where} ${what}: ${formatReply(reply)}`, reply);
}

/** Seen in practice: servers that quote the AUTH line that they refuse. */
function redact(text: string, options: SmtpOptions): string {
  if (options.credentials === null) return text;
  const { user, password } = options.credentials;
  if (password === null) return text;
  const secrets = [toBase64(`\0${user}\0${password}`), toBase64(password), password];
  return secrets.reduce((result, secret) => result.replaceAll(secret, '***'), text);
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
