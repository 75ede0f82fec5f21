/**
 * Answers with emails that the database made JSON of (`EmailsJson`). A large answer goes out piece by piece, as the reader
 * takes it; what fails in the middle cuts the connection, so that half an answer never looks like a whole one.
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { EmailsJson, Logger } from '../../app/ports.ts';
import type { HttpLimits } from './limits.ts';
import { LargePlaces } from './large-places.ts';
import { cutStalledReader } from './stalled-reader.ts';

/** Sends `{"emails":[…]` and then `rest`, which closes it. */
export type SendEmails = (reply: FastifyReply, emails: EmailsJson, rest?: string) => FastifyReply;

export function createEmailsResponse(limits: HttpLimits, logger: Logger): SendEmails {
  const places = new LargePlaces(limits.maxLargeAnswers);

  return (reply, emails, rest = '}') => {
    reply.header('content-type', 'application/json; charset=utf-8');
    if (emails.kind === 'whole') return reply.send(`{"emails":[${emails.json}]${rest}`);
    // Its length is not known, and nothing else would be left of the answer.
    if (reply.request.method === 'HEAD') return reply.send(Readable.from([]));

    const place = places.reserve();
    place.take();
    reply.raw.once('close', place.release);
    cutStalledReader(reply, limits);
    const stream = Readable.from(enclose(emails.pieces, rest), { objectMode: false });
    stream.once('error', (err) => {
      // Before the first byte it is an error like any other, and the error handler logs it.
      if (reply.raw.headersSent) {
        logger.error({ err, route: reply.request.routeOptions.url }, 'an answer could not be sent whole');
      }
    });
    return reply.send(stream);
  };
}

async function* enclose(pieces: AsyncIterable<string>, rest: string): AsyncGenerator<string, void, void> {
  let before = '{"emails":[';
  for await (const piece of pieces) {
    yield before + piece;
    before = '';
  }
  yield `${before}]${rest}`;
}
