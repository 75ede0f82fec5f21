/** Reports each request when it is over: for the access log and for the metrics. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { inRequest } from '../../base/request-scope.ts';
import { beginSpan, type Span, type SpanStart } from '../../base/tracing.ts';

export interface AnsweredRequest {
  readonly request: FastifyRequest;
  /** The route's pattern, such as `/api/thread/:threadId`: callers can't create new values. null: no such route exists. */
  readonly route: string | null;
  /** null: the client went away before the answer was whole. */
  readonly status: number | null;
  /** From the end of its header to the end of the answer. */
  readonly durationMs: number;
  /** Size of the answer's body; null when its length is not known before its end. */
  readonly sizeBytes: number | null;
}

export type RequestObserver = (answered: AnsweredRequest) => void;

/**
 * Fastify's first hook: the observers are called when the request is over.
 *
 * @param follows true if the work that a request causes belongs to it; see request-scope.ts
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
    const work = follows ? () => inRequest(request.id, done) : done;
    const span = beginSpan(() => toSpanStart(request));
    if (span === null) return work();
    reply.raw.once('close', () => endRequestSpan(span, reply));
    span.run(work);
  };
}

/** The liveness and readiness of the service are asked for all the time, and say nothing about its work. */
const UNTRACED_ROUTES: ReadonlySet<string | undefined> = new Set(['/api/health', '/api/health/ready']);

/** Names and attributes follow the conventions of OpenTelemetry for HTTP; without paths and addresses. null: the request is not traced. */
function toSpanStart(request: FastifyRequest) {
  const { headers, id, method, protocol, routeOptions } = request;
  const { url: route } = routeOptions;
  if (UNTRACED_ROUTES.has(route)) return null;
  const { traceparent, tracestate } = headers;
  const start: SpanStart = {
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    attributes: {
      'http.request.method': method,
      ...(route === undefined ? {} : { 'http.route': route }),
      'url.scheme': protocol,
      'email_worker.request_id': id,
    },
  };
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return { start, caller: typeof traceparent === 'string' ? { traceparent, tracestate: state } : null };
}

function endRequestSpan(span: Span, { raw }: FastifyReply): void {
  if (!raw.writableEnded) {
    span.end({ failure: 'gone' });
    return;
  }
  const { statusCode } = raw;
  span.end({
    attributes: { 'http.response.status_code': statusCode },
    failure: statusCode >= 500 ? String(statusCode) : null,
  });
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
