/**
 * Sends messages over one SMTP connection that is set up (RFC 5321 §3.3), one after the other. Results are distinguished by what is
 * certain:
 *
 * - until the connection has the last byte of a message, the server can't have the final dot: `refused`;
 * - from then on only a valid reply decides: 2yz `accepted`, 4yz and 5yz `refused`, anything else `unknown`.
 *
 * RFC 5321 §3.8 lets a client treat a lost line as 451 and send again; that makes second copies, so we do not. A 421 in answer to the
 * message is a 4yz like others: §4.2.5 leaves the message with the client.
 */
import type { Readable } from 'node:stream';
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, TransportResult } from '../../areas/send/transport-ports.ts';
import {
  classifyReply,
  cleanReplyText,
  formatReply,
  parseRelayMessageId,
  parseReply,
} from '../../core/delivery/reply.ts';
import type { Reply } from '../../core/delivery/states.ts';
import {
  MessageStream,
  sizeOfContent,
  WholeMessage,
  type MessageNeeds,
  type MovingMessage,
} from './message-stream.ts';
import { NONE_REFUSED, toAccepted, toRefused, toUnknown, type RefusedRecipients } from './send-result.ts';
import type { Connection, EnvelopeBooks, LibraryError } from './smtp-connection.ts';
import type { SmtpOptions } from './smtp-url.ts';

/** How long the server may take to answer QUIT; nothing depends on it. */
const QUIT_TIMEOUT_MS = 2_000;

export interface SessionOutcome {
  readonly result: TransportResult;
  /** What the session can be used for now: the next message, the next one after RSET, or nothing. */
  readonly session: 'ready' | 'reset' | 'dead';
  /** The line broke before any recipient was answered, so the server has nothing of the message. */
  readonly stale: boolean;
}

export interface SmtpSession {
  /** False once the server or the network has ended it. */
  readonly usable: boolean;
  /** Messages handed to the session so far. */
  readonly messages: number;
  /** Called when the session ends; at most one listener. */
  onEnd(listener: () => void): void;
  /** Only one at a time. Never throws because of the server. */
  send(envelope: Envelope, content: Content, needs: MessageNeeds): Promise<SessionOutcome>;
  /** RSET; false when the session has ended. */
  reset(): Promise<boolean>;
  /** Sends QUIT and closes; resolves when the server has answered or after two seconds. */
  quit(): Promise<void>;
  /** Cuts the line, which ends the message under way at once. */
  abort(reason: string): void;
  /** Cuts the line. */
  destroy(): void;
}

/** The end of a hand-over, before it is interpreted. */
interface Ending {
  readonly envelope: Envelope;
  readonly message: MovingMessage;
  readonly refused: RefusedRecipients;
  /** Raw text of the deciding reply; empty when there was none. */
  readonly response: string;
  readonly failure: LibraryError | null;
}

/** @param connection past EHLO, TLS and AUTH; the session owns it from here on */
export function createSession(
  connection: Connection,
  options: Pick<SmtpOptions, 'host' | 'commandTimeoutMs' | 'dataTimeoutMs'>,
): SmtpSession {
  let messages = 0;

  async function send(envelope: Envelope, content: Content, needs: MessageNeeds): Promise<SessionOutcome> {
    const obstacle = findObstacle(connection, envelope, content);
    if (obstacle !== null) {
      const result = toRefused(envelope, { reply: null, detail: obstacle }, NONE_REFUSED, 'rejected');
      return { result, session: 'ready', stale: false };
    }
    messages += 1;
    // nodemailer keeps its records on this object, which shows the replies to MAIL and RCPT even when the line breaks later.
    const books: EnvelopeBooks = {
      from: envelope.mailFrom ?? '',
      to: [...envelope.rcptTo],
      size: sizeOfContent(content),
      use8BitMime: needs.eightBit,
      // Other servers get it as it is: most pass it on, and a refusal would be final.
      hasUtf8Header: needs.utf8Header && connection.supports('SMTPUTF8'),
      // Sent only to servers that offer DSN (RFC 3461).
      ...(fitsEnvelopeId(envelope.envelopeId) ? { dsn: { id: envelope.envelopeId } } : {}),
    };
    let endDeadline = () => {};
    const mayStart = () => refuseToStart(connection);
    const onHandedOver = () => {
      // The socket's own timer counts silence on both sides; from here on we wait for one reply only.
      connection.setSocketTimeout(0);
      endDeadline = startDeadline(options.dataTimeoutMs, connection);
    };
    const message = WholeMessage.fits(content)
      ? new WholeMessage(content.bytes, mayStart, onHandedOver, connection)
      : new MessageStream(content, mayStart, onHandedOver);
    try {
      const info = await connection.run<SMTPConnectionSendInfo>((done) =>
        // `WholeMessage` has all that the library needs of a stream.
        connection.library.send(books, message as Readable, done),
      );
      const refused = refusedRecipients(books);
      return conclude({ envelope, message, refused, response: info?.response ?? '', failure: null });
    } catch (error) {
      // A refused MAIL decides; with PIPELINING the commands after it were answered as well, and mean nothing.
      const failure: LibraryError =
        books.mailError ?? (error instanceof Error ? error : new Error(String(error)));
      const refused = refusedRecipients(books);
      const outcome = conclude({ envelope, message, refused, response: failure.response ?? '', failure });
      const untouched = !message.started && !books.accepted?.length && refused.size === 0;
      const cut = failure.code === 'ECONNECTION' || failure.code === 'ESOCKET';
      return { ...outcome, stale: untouched && (cut || outcome.result.reply?.code === 421) };
    } finally {
      endDeadline();
      connection.setSocketTimeout(options.commandTimeoutMs);
      message.destroy();
    }
  }

  /** Turns the ending into an outcome, and cuts the line when the two sides may disagree about what comes next. */
  function conclude(ending: Ending): SessionOutcome {
    const reply = parseReply(ending.response);
    const inStep = !connection.ended && connection.inStep && reply !== null && reply.code !== 421;
    const outcome = ending.message.handedOver
      ? concludeWhole(ending, reply, inStep, options.host)
      : concludePart(ending, reply, inStep);
    if (outcome.session === 'dead') connection.destroy();
    return outcome;
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
    abort(reason) {
      connection.abort(Object.assign(new Error(reason), { code: 'EABORTED' }));
    },
    destroy() {
      connection.destroy();
    },
  };
}

/** The final dot may have reached the server. */
function concludeWhole(ending: Ending, reply: Reply | null, inStep: boolean, host: string): SessionOutcome {
  const { envelope, refused } = ending;
  const verdict = reply === null ? null : classifyReply(reply);
  if (reply === null || verdict === null) {
    const detail = `no valid reply to the end of the message: ${describe(ending)}`;
    return { result: toUnknown(envelope, detail, refused), session: 'dead', stale: false };
  }
  if (verdict === 'accepted') {
    const result = toAccepted(envelope, reply, refused, parseRelayMessageId(reply, host));
    return { result, session: inStep ? 'ready' : 'dead', stale: false };
  }
  const detail = `the message was refused: ${formatReply(reply)}`;
  const result = toRefused(envelope, { reply, detail }, refused);
  return { result, session: inStep ? 'reset' : 'dead', stale: false };
}

/** The final dot was not written, and must not be written any more: a message once begun is taken back by cutting the line. */
function concludePart(ending: Ending, reply: Reply | null, inStep: boolean): SessionOutcome {
  const { envelope, message, refused, failure } = ending;
  const session = inStep && !message.started ? 'reset' : 'dead';
  const verdict = reply === null || message.started ? null : classifyReply(reply);
  if (reply === null || verdict === null || verdict === 'accepted') {
    const detail = `failed ${message.started ? 'during' : 'before'} the message: ${describe(ending)}`;
    return { result: toRefused(envelope, { reply: null, detail }, refused), session, stale: false };
  }
  const who = failure?.command === 'RCPT TO' ? 'all recipients' : (failure?.command ?? 'the message');
  const detail = `${who} refused: ${formatReply(reply)}`;
  return { result: toRefused(envelope, { reply, detail }, refused), session, stale: false };
}

/** RFC 3461 §4.4 and §5.4: printable ASCII, at most 100 characters; the few characters that xtext would lengthen are not used. */
function fitsEnvelopeId(id: string | undefined): id is string {
  return id !== undefined && /^[!-*,-<>-~]{1,100}$/.test(id);
}

/** The reason why the server's EHLO already rules out the message; null when nothing does. */
function findObstacle(connection: Connection, envelope: Envelope, content: Content): string | null {
  const addresses = [envelope.mailFrom ?? '', ...envelope.rcptTo];
  const international = addresses.find((address) => /[^\u0000-\u007f]/.test(address));
  if (international !== undefined && !connection.supports('SMTPUTF8')) {
    // RFC 6531 §3.1: such an address must not be sent to a server without SMTPUTF8. The header contains it, too, so no recipient gets the
    // message.
    return `the mail server does not support internationalised addresses (SMTPUTF8): ${international}`;
  }
  const limit = connection.maxSizeBytes;
  const size = sizeOfContent(content);
  // RFC 1870 §6.1 lets a client leave the refusal to the server; asking costs a round trip for a certain answer.
  if (limit === null || size <= limit) return null;
  return `the message has ${size} bytes, the mail server takes ${limit} at most`;
}

/**
 * nodemailer takes 2yz for an answer to DATA as well. RFC 5321 §4.3.2 allows only 354, and a 2yz there shows that replies are out of step:
 * the message would be read as commands. A reply that arrived before the message was sent shows the same: it would be taken for the reply
 * to the message.
 */
function refuseToStart(connection: Connection): Error | null {
  const reply = String(connection.library.lastServerResponse);
  if (!reply.startsWith('354')) return new Error(`DATA was answered with ${cleanReplyText(reply)}`);
  return connection.inStep ? null : new Error('the server answered the message before it was sent');
}

function refusedRecipients(books: EnvelopeBooks): RefusedRecipients {
  if (books.mailError !== undefined) return NONE_REFUSED;
  const refused = new Map<string, Reply | null>();
  for (const error of books.rejectedErrors ?? []) {
    if (error.recipient !== undefined) refused.set(error.recipient, parseReply(error.response ?? ''));
  }
  return refused;
}

/**
 * Stops waiting for the reply to the message; returns a function that cancels this. A process that stood still (a paused machine, a full
 * processor) finds its timers due before it reads what arrived long ago, so the socket is read first: a reply that arrived in time must not
 * make the outcome unknown.
 */
function startDeadline(timeoutMs: number, connection: Connection): () => void {
  let afterReading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterReading = setImmediate(() => connection.abort(noReply(timeoutMs)));
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterReading);
  };
}

function noReply(timeoutMs: number): LibraryError {
  return Object.assign(new Error(`none within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });
}

function describe(ending: Ending): string {
  return cleanReplyText(ending.response || (ending.failure?.message ?? 'the connection was closed'));
}
