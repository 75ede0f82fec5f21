/** Opens a request body that may be large: it takes resources while the body arrives, and returns them when the body can't be read. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../base/basics.ts';
import type { SpoolFolder } from '../../files/file-ports.ts';
import type { HttpLimits } from '../connections/limits.ts';
import type { RequestSlot } from './request-slots.ts';
import { readRequestBody, takeAwaitingContinue } from './request-body.ts';

export interface OpenBodyOptions {
  readonly limits: HttpLimits;
  readonly logger: Logger;
  /** See RequestBodyOptions. */
  readonly maxBytes: number;
  /** Taken once the body is known to be large. */
  readonly slot: RequestSlot;
  /** The folder that `read` may write into; on any failure nothing is left in it. */
  readonly folder: SpoolFolder;
}

/** Returns the result of `read` for the body. Throws as readRequestBody does, and `busy`. */
export async function openBody<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { limits, logger, maxBytes, slot, folder }: OpenBodyOptions,
  read: (body: AsyncGenerator<Buffer, void, void>) => Promise<T>,
): Promise<T> {
  const body = readRequestBody(request.raw, {
    maxBytes,
    idleTimeoutMs: limits.bodyIdleTimeoutMs,
    onSize: (bytes) => {
      if (bytes > limits.smallBodyBytes) slot.take();
      if (takeAwaitingContinue(request.raw)) reply.raw.writeContinue();
    },
  });
  try {
    return await read(body);
  } catch (error) {
    await folder.remove().catch((err: unknown) => {
      logger.warn({ err, requestId: request.id }, 'spool folder could not be removed');
    });
    throw error;
  } finally {
    await body.return();
  }
}
