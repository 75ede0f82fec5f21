/**
 * Spans of traces: what was done, for how long, and as a part of what. They go to the tracer that the service set;
 * without one, each of these functions costs a comparison. Names and attributes come from this program and its
 * configuration, and never from mail: no addresses, no texts, no paths, no secrets. The only value from a caller is the
 * request's id.
 */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** `server`: answers a request; `client`: asks another server and waits for it. */
  readonly kind: 'client' | 'server';
  readonly attributes?: SpanAttributes;
}

export interface SpanEnd {
  readonly attributes?: SpanAttributes;
  /** Why it failed, as one of few words, such as a code; default: it did not fail. */
  readonly failure?: string | null;
}

export interface Span {
  /** Runs the work, and everything that follows from it, as a part of the span. */
  run<T>(work: () => T): T;
  end(end?: SpanEnd): void;
}

/** The span of a caller, in the terms of the W3C's Trace Context; headers as they came. */
export interface RemoteSpan {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

export interface Tracer {
  /** Below the caller's span, if it names one, else below the span under way; a span of kind `server` begins a trace. */
  begin(start: SpanStart, caller: RemoteSpan | null): Span;
  /** True if the work under way is a part of a span that is kept. */
  isUnderWay(): boolean;
}

let tracer: Tracer | null = null;

/** @param next null: none */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** The span of a request. null: nothing is traced. @param toStart is called only when tracing */
export function beginSpan(
  toStart: () => { readonly start: SpanStart; readonly caller: RemoteSpan | null } | null,
): Span | null {
  if (tracer === null) return null;
  const asked = toStart();
  return asked === null ? null : tracer.begin(asked.start, asked.caller);
}

/** Runs the work as a span. @param toEnd makes the end of the span from the result */
export async function traced<T>(
  start: SpanStart,
  work: () => Promise<T>,
  toEnd: (result: T) => SpanEnd = () => ({}),
): Promise<T> {
  if (tracer === null) return await work();
  const span = tracer.begin(start, null);
  try {
    const result = await span.run(work);
    span.end(toEnd(result));
    return result;
  } catch (error) {
    span.end({ failure: failureOf(error) });
    throw error;
  }
}

/** True if `partOf` should report the parts of the work under way. */
export const isTracing = (): boolean => tracer !== null && tracer.isUnderWay();

/** Passes the answer on, as a span from now on. Call it only if `isTracing`. */
export async function partOf<T>(start: SpanStart, answer: Promise<T>): Promise<T> {
  return await traced(start, () => answer);
}

/** A code, else the name of its class: messages may contain text that people wrote. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
