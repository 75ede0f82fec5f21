import type { FastifyReply } from 'fastify';
import type { HttpLimits } from './limits.ts';

/** Cuts the connection of a client that takes nothing of the answer any more, so that it holds on to nothing for ever. */
export function cutStalledReader(reply: FastifyReply, { answerIdleTimeoutMs }: HttpLimits): void {
  // Node.js sees progress as soon as the system takes some bytes, and ends the time with the answer.
  reply.raw.setTimeout(answerIdleTimeoutMs, () => reply.raw.destroy());
}
