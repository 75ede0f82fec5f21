/** Tells of each request when it is over: for the access log and for the metrics. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { inRequest } from '../../../app/base/request-scope.ts';

export interface AnsweredRequest {
  readonly request: FastifyRequest;
  /** The route's pattern, such as `/api/thread/:threadId`: what callers write never makes a new one. null: there is no such route. */
  readonly route: string | null;
  /** null: the client went away before the answer was whole. */
  readonly status: number | null;
  /** From the end of its header to the end of the answer. */
  readonly durationMs: number;
  /** Of the answer's body; null for one whose length is not known before its end. */
  readonly sizeBytes: number | null;
}

export type RequestObserver = (answered: AnsweredRequest) => void;

/**
 * Fastify's first hook: the observers are told when the request is over.
 *
 * @param follows what the request does is work of it; see request-scope.ts
 */
export function createRequestWatch(
  observers: readonly RequestObserver[],
  follows: boolean,
): onRequestHookHandler {
  return (request, reply, done) => {
    if (observers.length > 0) {
      const started = performance.now();
      reply.raw.once('close', () => {
        const answered = toAnswered(request, reply, performance.now() - started);
        for (const observe of observers) observe(answered);
      });
    }
    if (follows) inRequest(request.id, done);
    else done();
  };
}

function toAnswered(request: FastifyRequest, reply: FastifyReply, durationMs: number): AnsweredRequest {
  const { raw } = reply;
  const length = raw.getHeader('content-length');
  return {
    request,
    route: request.routeOptions.url ?? null,
    status: raw.writableEnded ? raw.statusCode : null,
    durationMs,
    sizeBytes: length === undefined ? null : Number(length),
  };
}
