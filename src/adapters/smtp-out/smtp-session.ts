/**
 * One SMTP session (RFC 5321 §3): set up with TLS (RFC 3207, RFC 8314) and AUTH (RFC 4954), then one message after
 * the other, told apart by what is certain:
 *
 * - until the connection got the last byte of a message, the server can't have the final dot: `refused`;
 * - from then on only a valid reply decides: 2yz `accepted`, 4yz and 5yz `refused`, anything else `unknown`.
 *
 * RFC 5321 §3.8 lets a client treat a lost line as 451 and send again; that makes second copies, so we do not. A 421
 * in answer to the message is a 4yz like others: §4.2.5 leaves the message with the client.
 */
import { readFile } from 'node:fs/promises';
import type {
  SMTPConnectionEnvelope,
  SMTPConnectionSendInfo,
  SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection';
import type { Content, Envelope, TransportResult } from '../../app/ports.ts';
import {
  classifyReply,
  cleanReplyText,
  formatReply,
  parseRelayMessageId,
  parseReply,
} from '../../core/delivery/reply.ts';
import type { Reply } from '../../core/delivery/states.ts';
import { MessageStream, sizeOfContent } from './message-stream.ts';
import { toAccepted, toRefused, toUnknown } from './send-result.ts';
import type { RefusedRecipients } from './send-result.ts';
import { Connection } from './smtp-connection.ts';
import type { LibraryError } from './smtp-connection.ts';
import { isLoopback } from './smtp-url.ts';
import type { SmtpOptions } from './smtp-url.ts';

/** How long the server may take to answer QUIT; nothing depends on it. */
const QUIT_TIMEOUT_MS = 2_000;

/** A reply of more than this is not one. nodemailer's own bound is 1 MB. */
const MAX_REPLY_BYTES = 64 * 1024;

/** The session could not be set up, so nothing was handed over. The message is safe to show: it holds no secret. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
  /** The reply that ended the set-up; null when there was none. */
  readonly reply: Reply | null;

  constructor(message: string, reply: Reply | null = null, options?: ErrorOptions) {
    super(message, options);
    this.reply = reply;
  }
}

export interface SessionOutcome {
  readonly result: TransportResult;
  /** What the session is good for now: the next message, the next one after RSET, or nothing. */
  readonly session: 'ready' | 'reset' | 'dead';
  /** The line was already dead when the message came: the server saw none of it. */
  readonly stale: boolean;
}

export interface SmtpSession {
  /** False once the server or the network ended it. */
  readonly usable: boolean;
  /** Messages handed to it so far. */
  readonly messages: number;
  /** Called when it ends, at most one listener. */
  onEnd(listener: () => void): void;
  /** One at a time. Never throws for what the server does. */
  send(envelope: Envelope, content: Content, eightBit: boolean): Promise<SessionOutcome>;
  /** RSET; false when the session is over. */
  reset(): Promise<boolean>;
  /** Says QUIT and closes; returns when the server answered or after two seconds. */
  quit(): Promise<void>;
  /** Cuts the line. */
  destroy(): void;
}

/** @throws {SessionError} */
export async function openSession(options: SmtpOptions): Promise<SmtpSession> {
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
    socketTimeout: options.commandTimeoutMs,
    socketCloseTimeout: 0,
    maxResponseSize: MAX_REPLY_BYTES,
    allowInternalNetworkInterfaces: isLoopback(options.host),
    tls: {
      // RFC 8996: TLS 1.0 and 1.1 must not be used.
      minVersion: 'TLSv1.2',
      rejectUnauthorized: options.tlsVerify,
      ...(options.tlsServername === null ? {} : { servername: options.tlsServername }),
      ...(options.tlsCaFile === null ? {} : { ca: await readAuthorities(options.tlsCaFile) }),
    },
  });
  try {
    await connection.run<void>((done) => connection.library.connect(done));
    await authenticate(connection, options);
  } catch (error) {
    connection.destroy();
    throw toSessionError(error, options);
  }
  return createSession(connection, options);
}

async function readAuthorities(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new SessionError(`can't read the file of trusted certificates ${path}`, null, { cause: error });
  }
}

async function authenticate(connection: Connection, options: SmtpOptions): Promise<void> {
  const { credentials } = options;
  if (credentials === null) return;
  if (!connection.library.secure && !options.allowPlaintextAuth && !isLoopback(options.host)) {
    // Also what is left when somebody on the line takes STARTTLS out of the server's answer.
    throw new SessionError('the server offers no TLS, so the credentials are not sent');
  }
  if (!connection.library.allowsAuth) throw new SessionError('the server offers no AUTH');
  await connection.run<boolean>((done) =>
    connection.library.login(
      {
        user: credentials.user,
        pass: credentials.password,
        ...(options.authMethod === null ? {} : { method: options.authMethod }),
      },
      done,
    ),
  );
}

function toSessionError(error: unknown, options: SmtpOptions): SessionError {
  if (error instanceof SessionError) return error;
  const failure: LibraryError = error instanceof Error ? error : new Error(String(error));
  const where = `connection to ${options.host}:${options.port}`;
  const response = redact(failure.response ?? '', options);
  const reply = parseReply(response);
  if (reply !== null) {
    const step = failure.command?.startsWith('AUTH') ? 'AUTH' : (failure.command ?? 'CONN');
    const what = step === 'CONN' ? 'refused' : `failed, ${step} was refused`;
    return new SessionError(`${where} ${what}: ${formatReply(reply)}`, reply);
  }
  return new SessionError(`${where} failed: ${cleanReplyText(redact(failure.message, options))}`);
}

/** Seen in practice: servers that quote the refused AUTH line. */
function redact(text: string, options: SmtpOptions): string {
  if (options.credentials === null) return text;
  const { user, password } = options.credentials;
  const base64 = (value: string): string => Buffer.from(value).toString('base64');
  return [base64(`\0${user}\0${password}`), base64(password), password].reduce(
    (result, secret) => result.replaceAll(secret, '***'),
    text,
  );
}

function createSession(connection: Connection, options: SmtpOptions): SmtpSession {
  let messages = 0;

  async function send(envelope: Envelope, content: Content, eightBit: boolean): Promise<SessionOutcome> {
    const obstacle = findObstacle(connection, envelope, content);
    if (obstacle !== null) return { result: obstacle, session: 'ready', stale: false };
    messages += 1;
    // nodemailer keeps its books on this object, which tells about RCPT also when the line breaks later.
    const books: SMTPEnvelope & Partial<Pick<SMTPConnectionEnvelope, 'accepted' | 'rejectedErrors'>> = {
      from: envelope.mailFrom ?? '',
      to: [...envelope.rcptTo],
      size: sizeOfContent(content),
      use8BitMime: eightBit,
    };
    let deadline: NodeJS.Timeout | undefined;
    const message = new MessageStream(
      content,
      () => refuseToStart(connection.library.lastServerResponse),
      () => {
        // The socket's own timer counts silence of both sides; from here on we wait for one reply only.
        connection.setSocketTimeout(0);
        deadline = setTimeout(() => connection.abort(noReply(options.dataTimeoutMs)), options.dataTimeoutMs);
      },
    );
    try {
      const info = await connection.run<SMTPConnectionSendInfo>((done) =>
        connection.library.send(books, message, done),
      );
      return conclude(envelope, message, refusedRecipients(books), info?.response ?? '', null);
    } catch (error) {
      const failure: LibraryError = error instanceof Error ? error : new Error(String(error));
      const outcome = conclude(envelope, message, refusedRecipients(books), failure.response ?? '', failure);
      const untouched = !message.started && !books.accepted?.length && !books.rejectedErrors?.length;
      const cut = failure.code === 'ECONNECTION' || failure.code === 'ESOCKET';
      return { ...outcome, stale: untouched && (cut || outcome.result.reply?.code === 421) };
    } finally {
      clearTimeout(deadline);
      connection.setSocketTimeout(options.commandTimeoutMs);
      message.destroy();
    }
  }

  /** Puts together what happened; cuts the line whenever the two sides may disagree about what comes next. */
  function conclude(
    envelope: Envelope,
    message: MessageStream,
    refused: RefusedRecipients,
    response: string,
    failure: LibraryError | null,
  ): SessionOutcome {
    const reply = parseReply(response);
    const verdict = reply === null ? null : classifyReply(reply);
    const inStep = !connection.ended && connection.inStep && reply !== null && reply.code !== 421;
    if (message.handedOver) {
      const session = !inStep ? 'dead' : verdict === 'accepted' ? 'ready' : 'reset';
      if (session === 'dead') connection.destroy();
      if (reply !== null && verdict === 'accepted') {
        const relayMessageId = parseRelayMessageId(reply, options.host);
        return { result: toAccepted(envelope, reply, refused, relayMessageId), session, stale: false };
      }
      if (reply !== null && verdict !== null) {
        const detail = `the message was refused: ${formatReply(reply)}`;
        return { result: toRefused(envelope, { reply, detail }, refused), session, stale: false };
      }
      connection.destroy();
      const detail = `no valid reply to the end of the message: ${describe(failure, response)}`;
      return { result: toUnknown(envelope, detail, refused), session: 'dead', stale: false };
    }
    // A message that was begun can't be taken back but by cutting the line before its dot.
    const session = inStep && !message.started ? 'reset' : 'dead';
    if (session === 'dead') connection.destroy();
    const negative = !message.started && verdict !== 'accepted' && verdict !== null ? reply : null;
    const detail =
      negative === null
        ? `failed ${message.started ? 'during' : 'before'} the message: ${describe(failure, response)}`
        : `${failure?.command === 'RCPT TO' ? 'all recipients' : failure?.command} refused: ${formatReply(negative)}`;
    return { result: toRefused(envelope, { reply: negative, detail }, refused), session, stale: false };
  }

  return {
    get usable() {
      return !connection.ended;
    },
    get messages() {
      return messages;
    },
    onEnd(listener) {
      connection.onEnd = listener;
    },
    send,
    async reset() {
      try {
        await connection.run<boolean>((done) => connection.library.reset(done));
      } catch {
        connection.destroy();
        return false;
      }
      if (!connection.ended && connection.inStep) return true;
      connection.destroy();
      return false;
    },
    async quit() {
      if (connection.ended) return;
      const ended = new Promise<void>((resolve) => {
        connection.onEnd = resolve;
      });
      const timer = setTimeout(() => connection.destroy(), QUIT_TIMEOUT_MS);
      connection.library.quit();
      await ended;
      clearTimeout(timer);
    },
    destroy() {
      connection.destroy();
    },
  };
}

/** What the server's EHLO already rules out; null when nothing does. */
function findObstacle(connection: Connection, envelope: Envelope, content: Content): TransportResult | null {
  const international = [envelope.mailFrom ?? '', ...envelope.rcptTo].find((address) =>
    /[^\x00-\x7f]/.test(address),
  );
  if (international !== undefined && !connection.supports('SMTPUTF8')) {
    // RFC 6531 §3.1: no such address to a server without SMTPUTF8. The header holds it too, so nobody gets the message.
    const detail = `the mail server does not support internationalised addresses (SMTPUTF8): ${international}`;
    return toRefused(envelope, { reply: null, detail }, undefined, 'rejected');
  }
  const limit = connection.maxSizeBytes;
  const size = sizeOfContent(content);
  if (limit !== null && size > limit) {
    const detail = `the message has ${size} bytes, the mail server takes ${limit} at most`;
    return toRefused(envelope, { reply: null, detail }, undefined, 'rejected');
  }
  return null;
}

/**
 * nodemailer takes 2yz for an answer to DATA as well. RFC 5321 §4.3.2 knows only 354, and a 2yz there is the sign of
 * replies out of step: the message would be read as commands.
 */
function refuseToStart(reply: string | false): Error | null {
  if (reply !== false && reply.startsWith('354')) return null;
  return new Error(`DATA was answered with ${cleanReplyText(String(reply))}`);
}

function refusedRecipients(
  books: Pick<Partial<SMTPConnectionEnvelope>, 'rejectedErrors'>,
): RefusedRecipients {
  const refused = new Map<string, Reply | null>();
  for (const error of books.rejectedErrors ?? []) {
    if (error.recipient !== undefined) refused.set(error.recipient, parseReply(error.response ?? ''));
  }
  return refused;
}

function noReply(timeoutMs: number): LibraryError {
  return Object.assign(new Error(`none within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });
}

function describe(failure: LibraryError | null, response: string): string {
  return cleanReplyText(response || (failure?.message ?? 'the connection was closed'));
}
