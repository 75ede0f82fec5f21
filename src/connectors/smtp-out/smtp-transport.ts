/**
 * Hands messages to the configured mail server over a few connections that are kept open.
 *
 * Why not nodemailer's own pool: it calls a message failed when the line broke after its end, and sends it again from its queue. Here no
 * message is sent twice: only a kept connection that breaks before any recipient was answered (the server had closed it meanwhile) is
 * replaced, once, as nothing of the message was handed over.
 */
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, Transport, TransportResult } from '../../areas/send/transport-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { describeContentError, findNeeds, type MessageNeeds } from './message-stream.ts';
import { toRefused } from './send-result.ts';
import { createSessionPool } from './session-pool.ts';
import type { SmtpSession } from './smtp-session.ts';
import { openSession, SessionError, type LoginTokens } from './open-session.ts';
import type { SmtpOptions } from './smtp-url.ts';

export interface SmtpTransport extends Transport {
  /**
   * Cuts every connection. Sends under way end at once: as unknown where the message was handed over, otherwise as deferred. Later sends
   * are deferred.
   */
  abort(): void;
}

export interface SmtpTransportOptions extends SmtpOptions {
  /** For credentials without a password. */
  readonly tokens?: LoginTokens;
  /** For events that no result reports: a connection that failed while others continued. */
  readonly logger: Logger;
}

/**
 * A transport to the server of `options`, which come from `parseSmtpUrl`. Connects with the first message. A session that can't be set up
 * defers the message, whatever the server said: that is about us, not about the message (as in Postfix, smtp_skip_5xx_greeting and
 * smtp_sasl_auth_soft_bounce).
 */
export function createSmtpTransport(options: SmtpTransportOptions): SmtpTransport {
  const pool = createSessionPool(() => openSession(options), options, options.logger);

  const send: Transport['send'] = async (envelope, raw, beforeFirstByte = always) => {
    const fault = findEnvelopeFault(envelope);
    if (fault !== null) return toRefused(envelope, { reply: null, detail: fault }, undefined, 'rejected');
    let needs: MessageNeeds;
    try {
      needs = await findNeeds(raw);
    } catch (error) {
      return toRefused(envelope, { reply: null, detail: describeContentError(error) }, undefined, 'deferred');
    }
    try {
      return await sendOnce(envelope, raw, needs, beforeFirstByte);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      const { reply, message } = error;
      return toRefused(envelope, { reply, detail: message }, undefined, 'deferred');
    }
  };

  async function sendOnce(
    envelope: Envelope,
    raw: Content,
    needs: MessageNeeds,
    beforeFirstByte: () => Promise<void>,
  ): Promise<TransportResult> {
    let session = await pool.acquire();
    const reused = session.messages > 0;
    await ask(session, beforeFirstByte);
    let outcome = await session.send(envelope, raw, needs);
    if (outcome.stale && reused) {
      session = await pool.replace(session);
      // Asked again: connecting took some time.
      await ask(session, beforeFirstByte);
      outcome = await session.send(envelope, raw, needs);
    }
    pool.release(session, outcome.session);
    return outcome.result;
  }

  /** A session that was not used can be lent again. */
  async function ask(session: SmtpSession, beforeFirstByte: () => Promise<void>): Promise<void> {
    try {
      await beforeFirstByte();
    } catch (error) {
      pool.release(session, session.usable ? 'ready' : 'dead');
      throw error;
    }
  }

  return {
    send,
    async verify() {
      const session = await openSession(options);
      await session.quit();
    },
    abort: () => pool.abort(),
    close: () => pool.close(),
  };
}

const always = async () => {};

/** RFC 5321 §4.1.2 allows no control character in a path; a line break would start another command. */
function findEnvelopeFault(envelope: Envelope): string | null {
  if (envelope.rcptTo.length === 0) return 'the envelope has no recipient';
  const addresses = envelope.mailFrom === null ? envelope.rcptTo : [envelope.mailFrom, ...envelope.rcptTo];
  const bad = addresses.find(
    (address) => address !== address.trim() || !/^[^\u0000-\u001f\u007f<>]+$/.test(address),
  );
  return bad === undefined ? null : `not an address for an envelope: ${JSON.stringify(bad)}`;
}
