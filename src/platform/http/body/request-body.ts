/** Reads a request body in pieces, bounded in size and in time, and discards a body that no route reads. */
import type { IncomingMessage } from 'node:http';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';

export interface RequestBodyOptions {
  /** Bytes as sent; more is `payload_too_large`. */
  readonly maxBytes: number;
  /** Time without a byte, in milliseconds; more is `request_timeout`. */
  readonly idleTimeoutMs: number;
  /** Called with the number of bytes that the body has at least: first the declared length, then the number of bytes that have arrived. */
  readonly onSize: (bytes: number) => void;
}

/**
 * Yields the body in pieces as they arrive; when the caller stops, reading stops, and the stream stays open. Throws `payload_too_large`
 * (before the first byte when the length is declared), `request_timeout`, or `invalid_request` when the client goes away in the middle.
 */
export async function* readRequestBody(
  request: IncomingMessage,
  options: RequestBodyOptions,
): AsyncGenerator<Buffer, void, void> {
  const declared = declaredLength(request);
  if (declared > options.maxBytes) throw new ServiceError('payload_too_large');
  options.onSize(declared);

  const iterator: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  let received = 0;
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const next = await withDeadline(iterator.next(), options.idleTimeoutMs);
      waiting = false;
      if (next.done === true) return;
      received += next.value.length;
      if (received > options.maxBytes) throw new ServiceError('payload_too_large');
      options.onSize(received);
      yield next.value;
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidRequest('cut_off', {}, error);
  } finally {
    // While a piece is awaited, the iterator can't be ended; then the connection is closed, which ends it.
    if (!waiting) await iterator.return?.();
  }
}

/**
 * For answers given before the whole body has arrived: reads and drops the rest, so that the client can finish writing and then read the
 * answer instead of a reset connection. False when the connection must be closed instead, because the client waits for `100 Continue` or
 * has more than `maxBytes` to send.
 */
export function drainRest(request: IncomingMessage, maxBytes: number): boolean {
  // Not `=== true`: requests that tests inject have no such property.
  if (request.complete !== false || request.destroyed) return true;
  if (isAwaitingContinue(request) || declaredLength(request) > maxBytes) return false;
  let drained = 0;
  request.on('data', (piece: Buffer) => {
    drained += piece.length;
    if (drained > maxBytes) request.destroy();
  });
  throwAway(request);
  return true;
}

/** For when drainRest returned false: the answer under way gets `Connection: close`, and the client time to read it. */
export function closeAfterAnswer(request: IncomingMessage, lingering: LingeringClose): void {
  const { socket } = request;
  lingering.endAfterAnswer(socket);
  request.on('data', () => lingering.note(socket));
  throwAway(request);
}

function throwAway(request: IncomingMessage): void {
  // A client that goes away meanwhile is not worth reporting.
  request.on('error', () => {});
  request.resume();
}

const awaitingContinue = new WeakSet<IncomingMessage>();

/** Remembers that the client sends its body only after `100 Continue` (RFC 9110 §10.1.1). */
export function expectContinue(request: IncomingMessage): void {
  awaitingContinue.add(request);
}

/** True once: the caller then sends `100 Continue`. So a refused upload is never sent at all. */
export function takeAwaitingContinue(request: IncomingMessage): boolean {
  return awaitingContinue.delete(request);
}

function isAwaitingContinue(request: IncomingMessage): boolean {
  return awaitingContinue.has(request);
}

/** 0 when the body is chunked. */
function declaredLength(request: IncomingMessage): number {
  const text = request.headers['content-length'];
  return text === undefined ? 0 : Number(text);
}

async function withDeadline<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServiceError('request_timeout')), timeoutMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
