/**
 * Traces with OpenTelemetry, sent by OTLP (protobuf over HTTP). The SDK reads its standard variables itself. Spans wait in a queue of
 * bounded length and are sent in the background: a collector that is slow or away costs spans, and nothing else.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { failureOf, type Span, type Tracer } from '../../platform/base/tracing.ts';
import type { Logger } from '../../platform/base/basics.ts';

/** How long shutdown waits for the last spans, in ms. */
const FLUSH_MS = 3000;
/** An unreachable collector is logged once in this many ms. */
const TELL_MS = 300_000;

const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

export interface TracingOptions {
  readonly version: string;
  /** Header fields of the requests to the collector, besides those of the SDK's own variables. */
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: Logger;
}

export interface Tracing extends Tracer {
  /** Sends the waiting spans, for a limited time; nothing is kept afterwards. */
  close(): Promise<void>;
}

export function createTracing({ version, headers, logger }: TracingOptions): Tracing {
  const now = () => performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (now() - toldAt < TELL_MS) return;
    toldAt = now();
    logger.warn({ reason: toReason(error) }, 'spans could not be sent to the collector; they are dropped');
  });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': 'email-worker',
          'service.version': version,
          'service.instance.id': randomUUID(),
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ headers: { ...headers } }))],
  });
  const tracer = provider.getTracer('email-worker', version);
  const propagator = new W3CTraceContextPropagator();
  const scope = new AsyncLocalStorage<Context>();

  return {
    begin({ name, kind, attributes = {} }, caller) {
      const under = kind === 'server' ? undefined : scope.getStore();
      const above =
        caller === null
          ? (under ?? ROOT_CONTEXT)
          : propagator.extract(ROOT_CONTEXT, caller, defaultTextMapGetter);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, above);
      return toSpan(span, scope, trace.setSpan(above, span));
    },
    isUnderWay() {
      const context = scope.getStore();
      return context !== undefined && trace.getSpan(context)?.isRecording() === true;
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, FLUSH_MS);
      });
      // Spans that could not be sent were logged.
      const sent = provider.shutdown().catch((error: unknown) => {
        logger.warn({ reason: toReason(error) }, 'the last spans could not be sent to the collector');
      });
      await Promise.race([sent, patience]);
      clearTimeout(timer);
    },
  };
}

function toSpan(span: OtelSpan, scope: AsyncLocalStorage<Context>, context: Context): Span {
  return {
    run: (work) => scope.run(context, work),
    end({ attributes, failure = null } = {}) {
      if (attributes !== undefined) span.setAttributes(attributes);
      if (failure !== null) {
        span.setAttribute('error.type', failure);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** Without the collector's answer, which may be long. */
function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return `${failureOf(error)} ${message}`.trim().slice(0, 200);
}
