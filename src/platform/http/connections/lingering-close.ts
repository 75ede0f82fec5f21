/**
 * Ends connections whose client may still be sending. If they were closed at once, the system would answer further bytes with a reset,
 * which makes most clients discard the answer that they have received: RFC 9112 §9.6 has the server close its own half first and read on
 * for a while. Bytes that arrive are dropped, within bounds of size and time.
 */
import type { Socket } from 'node:net';
import type { HttpLimits } from './limits.ts';

/** How often the bounds are checked, in milliseconds. */
const LOOK_MS = 250;

type Bounds = Pick<HttpLimits, 'lingerBytes' | 'lingerTimeoutMs' | 'lingerIdleMs'>;

export class LingeringClose {
  readonly #bounds: Bounds;
  /** Each with the function to call when something arrives. */
  readonly #sockets = new Map<Socket, () => void>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Sends the remaining bytes, `last` included, and ends the connection. */
  end(socket: Socket, last?: string): void {
    if (this.#sockets.has(socket) || socket.destroyed) return;
    const { lingerBytes, lingerTimeoutMs, lingerIdleMs } = this.#bounds;
    const start = performance.now();
    const bytesBefore = socket.bytesRead;
    let bytes = bytesBefore;
    let heardAt = start;
    const look = (): void => {
      const now = performance.now();
      if (socket.bytesRead !== bytes) heardAt = now;
      bytes = socket.bytesRead;
      const isOver =
        bytes - bytesBefore > lingerBytes || now - start > lingerTimeoutMs || now - heardAt > lingerIdleMs;
      if (isOver) socket.destroy();
    };
    this.#sockets.set(socket, look);
    const timer = setInterval(look, Math.min(LOOK_MS, lingerIdleMs));
    socket.once('close', () => {
      clearInterval(timer);
      this.#sockets.delete(socket);
    });
    // The client may disconnect at any time.
    socket.on('error', () => {});
    socket.end(last ?? '');
  }

  /** The same after the current answer, after which Node.js would close the connection at once. */
  endAfterAnswer(socket: Socket): void {
    // Node.js's HTTP server calls this after an answer with `Connection: close`.
    socket.destroySoon = () => this.end(socket);
  }

  /** Call it when something arrived. False when the connection is not being ended. */
  note(socket: Socket): boolean {
    const look = this.#sockets.get(socket);
    look?.();
    return look !== undefined;
  }

  /** Stops waiting for clients. */
  destroyAll(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }
}
