import type { FastifyReply } from 'fastify';
import type { HttpLimits } from './limits.ts';

/** Cuts the connection of a client that no longer reads the answer, so that it can't hold resources for ever. */
export function cutStalledReader(reply: FastifyReply, { answerIdleTimeoutMs }: HttpLimits): void {
  // For Node.js it is progress when the system takes some bytes; the timeout ends with the answer.
  reply.raw.setTimeout(answerIdleTimeoutMs, () => reply.raw.destroy());
}
