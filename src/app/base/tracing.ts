/**
 * Spans of traces: what was done, for how long, and as a part of what. They go to the tracer that the service set; without one, each of
 * these functions costs a comparison. Names and attributes come from this program and its configuration, and never from mail: no
 * addresses, no texts, no paths, no secrets. The one value of a caller is the request's id.
 */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** `server`: was asked for; `client`: asks another server and waits for it. */
  readonly kind: 'client' | 'server';
  readonly attributes?: SpanAttributes;
}

export interface SpanEnd {
  readonly attributes?: SpanAttributes;
  /** Why it failed, as one of few words, such as a code; default: it did not. */
  readonly failure?: string | null;
}

export interface Span {
  /** Does the work as a part of the span, and all that follows from it. */
  run<T>(work: () => T): T;
  end(end?: SpanEnd): void;
}

/** The span of a caller, in the words of the W3C's Trace Context; headers as they came. */
export interface RemoteSpan {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

export interface Tracer {
  /** Below the caller's span, if it says one, else below the one whose work is under way; what was asked for begins a trace. */
  begin(start: SpanStart, caller: RemoteSpan | null): Span;
  /** Whether the work under way is a part of a span that is kept. */
  isUnderWay(): boolean;
}

let tracer: Tracer | null = null;

/** @param next null: none */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** A span that was asked for. null: nothing is traced. @param toStart is called where something is */
export function beginSpan(
  toStart: () => { readonly start: SpanStart; readonly caller: RemoteSpan | null } | null,
): Span | null {
  if (tracer === null) return null;
  const asked = toStart();
  return asked === null ? null : tracer.begin(asked.start, asked.caller);
}

/** Does the work as a span. @param toEnd what the span says of the result */
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

/** Whether `partOf` should tell the parts of the work under way. */
export const isTracing = (): boolean => tracer !== null && tracer.isUnderWay();

/** The same answer, as a span from now on. To be asked after `isTracing`. */
export async function partOf<T>(start: SpanStart, answer: Promise<T>): Promise<T> {
  return await traced(start, () => answer);
}

/** A code, else the name of its kind: messages may hold what people wrote. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
