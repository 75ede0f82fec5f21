/**
 * Answers with emails that the database has turned into JSON (`EmailsJson`). A large answer is sent piece by piece, as fast as the client
 * reads; a failure in the middle cuts the connection, so that half an answer never looks like a whole one.
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { EmailsPage, EmailsJson } from '../../db/emails-json.ts';
import { keyIdOf } from '../connections/auth.ts';
import type { Logger } from '../../base/basics.ts';
import type { HttpLimits } from '../connections/limits.ts';
import { RequestSlots } from '../body/request-slots.ts';
import { cutStalledReader } from '../connections/stalled-reader.ts';

const BEGINNING = '{"emails":[';
const BEGINNING_BYTES = Buffer.from(BEGINNING);

export interface EmailsResponse {
  /** Answers `{"emails":[…]}`. */
  sendEmails(reply: FastifyReply, emails: EmailsJson): FastifyReply;
  /** Answers `{"emails":[…],"next_cursor":…}`. */
  sendEmailPage(reply: FastifyReply, page: EmailsPage): FastifyReply;
}

export function createEmailsResponse(limits: HttpLimits, logger: Logger): EmailsResponse {
  const slots = new RequestSlots(limits.maxLargeAnswers);

  /** `rest` follows the list, and closes the object. */
  const send = (reply: FastifyReply, emails: EmailsJson, rest: string): FastifyReply => {
    reply.header('content-type', 'application/json; charset=utf-8');
    if (emails.kind === 'whole') {
      const { json } = emails;
      if (typeof json === 'string') return reply.send(`${BEGINNING}${json}]${rest}`);
      return reply.send(Buffer.concat([BEGINNING_BYTES, json, Buffer.from(`]${rest}`)]));
    }
    // Its length is unknown, so a HEAD answer has nothing to send but its other headers.
    if (reply.request.method === 'HEAD') return reply.send(Readable.from([]));

    const slot = slots.reserve(keyIdOf(reply.request));
    slot.take();
    reply.raw.once('close', slot.release);
    cutStalledReader(reply, limits);
    const stream = Readable.from(enclose(emails.pieces, rest), { objectMode: false });
    stream.once('error', (err) => {
      // Before the first byte it is an ordinary error, and the error handler logs it.
      if (reply.raw.headersSent) {
        const { id: requestId, routeOptions } = reply.request;
        logger.error({ err, requestId, route: routeOptions.url }, 'a response was cut off');
      }
    });
    return reply.send(stream);
  };

  return {
    sendEmails: (reply, emails) => send(reply, emails, '}'),
    sendEmailPage: (reply, { emails, nextCursor }) =>
      send(reply, emails, `,"next_cursor":${JSON.stringify(nextCursor)}}`),
  };
}

async function* enclose(pieces: AsyncIterable<string>, rest: string): AsyncGenerator<string, void, void> {
  let before: string = BEGINNING;
  for await (const piece of pieces) {
    yield before + piece;
    before = '';
  }
  yield `${before}]${rest}`;
}
