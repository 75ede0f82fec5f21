/**
 * Ends connections whose client may still be sending. Closed at once, the system would answer what comes next with a
 * reset, which makes most clients forget the answer that they have received: RFC 9112 §9.6 has the server close its own
 * half first and read on for a while. What comes is thrown away, within bounds of size and time.
 */
import type { Socket } from 'node:net';
import type { HttpLimits } from './limits.ts';

/** How often the bounds are checked, in milliseconds. */
const LOOK_MS = 250;

type Bounds = Pick<HttpLimits, 'lingerBytes' | 'lingerTimeoutMs' | 'lingerIdleMs'>;

export class LingeringClose {
  readonly #bounds: Bounds;
  /** With what to call when something arrived. */
  readonly #sockets = new Map<Socket, () => void>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Sends the bytes that are still to be written, `last` included, and ends the connection. */
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
    // The client may go away at any time.
    socket.on('error', () => {});
    socket.end(last ?? '');
  }

  /** The same after the answer under way, for which Node.js would close the connection at once. */
  endAfterAnswer(socket: Socket): void {
    // What Node.js's HTTP server calls behind an answer with `Connection: close`.
    socket.destroySoon = () => this.end(socket);
  }

  /** For a connection that is being ended: something arrived. False when it is not being ended. */
  note(socket: Socket): boolean {
    const look = this.#sockets.get(socket);
    look?.();
    return look !== undefined;
  }

  /** Waits for no client any more. */
  destroyAll(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }
}
