/**
 * The connections whose TLS handshake is not over. Node.js reports the connection below TLS and the one above as two sockets; they are
 * matched by the addresses of both ends, which no other connection has at the same time.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export class Handshakes {
  readonly #sockets = new Map<string, Socket>();

  /** Watches the connections of a TLS server from now on. */
  attach(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const ends = endsOf(socket);
      this.#sockets.set(ends, socket);
      socket.once('close', () => {
        if (this.#sockets.get(ends) === socket) this.#sockets.delete(ends);
      });
    });
  }

  /** Nothing is under way on these connections. */
  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  /** The connection below a socket whose handshake has just ended, successfully or not. null: it ended before, or there was none. */
  end(socket: Socket): Socket | null {
    if (this.#sockets.size === 0) return null;
    const ends = endsOf(socket);
    const below = this.#sockets.get(ends);
    this.#sockets.delete(ends);
    return below ?? null;
  }
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
