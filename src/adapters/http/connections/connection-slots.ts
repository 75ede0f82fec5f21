/**
 * Bounds the HTTP connections, so that strangers can't take every file descriptor. When all slots are taken, the oldest connection that
 * never sent a valid secret makes room for the next one, as in Dovecot's login processes: a client that has the secret gets in, and is
 * never pushed out. When connections with a valid secret hold all slots, a new connection is answered with 503. With TLS a connection has
 * its slot from its first packet on, and keeps it when its handshake is over.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SecurityLog } from '../../../app/base/security-log.ts';
import { isWorthTelling, WindowCounts } from '../../../core/edge/window-counts.ts';
import type { Handshakes } from './handshakes.ts';

const TELL_WINDOW_MS = 3_600_000;

/** Connections that only wait for their 503; Node.js closes any beyond them. */
const REFUSED_SLOTS = 100;

export class ConnectionSlots {
  readonly #max: number;
  readonly #security: SecurityLog;
  readonly #now: () => number;
  readonly #handshakes: Handshakes;
  readonly #told = new WindowCounts({ windowMs: TELL_WINDOW_MS, maxKeys: 1 });
  /** Connections without a valid secret so far, the oldest first. */
  readonly #strangers = new Set<Socket>();
  readonly #known = new Set<Socket>();
  readonly #refused = new WeakSet<Socket>();

  constructor(options: {
    readonly max: number;
    readonly security: SecurityLog;
    readonly now: () => number;
    readonly handshakes: Handshakes;
  }) {
    this.#max = options.max;
    this.#security = options.security;
    this.#now = options.now;
    this.#handshakes = options.handshakes;
  }

  /** Watches the connections of a server from now on. */
  attach(server: Server): void {
    server.maxConnections = this.#max + REFUSED_SLOTS;
    server.on('connection', (socket: Socket) => this.#enter(socket));
    server.on('secureConnection', (socket: TLSSocket) => this.#secure(socket));
    server.on('drop', () => this.#tell());
  }

  /** The connection has sent a valid secret: it keeps its slot. */
  keep(socket: Socket): void {
    if (this.#strangers.delete(socket)) this.#known.add(socket);
  }

  /** True when requests on the connection get 503. */
  isRefused(socket: Socket): boolean {
    return this.#refused.has(socket);
  }

  /** Ends the connections that have sent nothing, such as those that browsers open in advance: no request is under way on them. */
  endUnused(): void {
    for (const socket of this.#strangers) if (socket.bytesRead === 0) socket.destroy();
  }

  #enter(socket: Socket): void {
    if (this.#strangers.size + this.#known.size >= this.#max) {
      this.#tell();
      const [oldest] = this.#strangers;
      if (oldest === undefined) {
        this.#refused.add(socket);
        return;
      }
      this.#leave(oldest);
      oldest.destroy();
    }
    this.#occupy(socket);
  }

  #occupy(socket: Socket): void {
    this.#strangers.add(socket);
    socket.once('close', () => this.#leave(socket));
  }

  /** The TLS socket, which requests arrive on, takes over the slot of the connection below it. */
  #secure(socket: TLSSocket): void {
    const below = this.#handshakes.end(socket);
    if (below === null) return;
    if (this.#refused.has(below)) this.#refused.add(socket);
    if (this.#strangers.delete(below)) this.#occupy(socket);
  }

  #leave(socket: Socket): void {
    this.#strangers.delete(socket);
    this.#known.delete(socket);
  }

  #tell(): void {
    const { count } = this.#told.add('', this.#now());
    if (isWorthTelling(count)) this.#security.note('http.full', { max: this.#max, count });
  }
}
