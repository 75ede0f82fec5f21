/**
 * Bounds the HTTP connections, so that strangers can't take every file descriptor, nor one key every slot. When all slots are taken, one that
 * never sent a valid secret makes room for the next one, as in Dovecot's login processes: the oldest of the address that has most of them,
 * so a flood from one address pushes out its own. A client that has the secret gets in, and is never pushed out, up to the share of its key:
 * beyond that, connections end with their answer. When connections with a valid secret hold all slots, a new connection is answered with 503.
 * With TLS a connection has its slot from its first packet on, and keeps it when its handshake is over.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SecurityLog } from '../../base/security-log.ts';
import { addressGroup } from '../../../core/edge/address-group.ts';
import { isWorthTelling, WindowCounts } from '../../../core/edge/window-counts.ts';
import type { Handshakes } from './handshakes.ts';

const TELL_WINDOW_MS = 3_600_000;

/** Share of the slots that the connections of one key may keep. The secrets, with which the service is run, leave a tenth. */
const KEY_SHARE = 0.5;
const SECRETS_SHARE = 0.9;

/** Connections that only wait for their 503; Node.js closes any beyond them. */
const REFUSED_SLOTS = 100;

export class ConnectionSlots {
  readonly #max: number;
  readonly #security: SecurityLog;
  readonly #now: () => number;
  readonly #handshakes: Handshakes;
  readonly #told = new WindowCounts({ windowMs: TELL_WINDOW_MS, maxKeys: 1 });
  /** Connections without a valid secret so far, the oldest first, and the group of their address. */
  readonly #strangers = new Map<Socket, string>();
  /** Connections that keep their slot, and the holder that they count for. */
  readonly #known = new Map<Socket, string>();
  readonly #strangersOf = new Counts();
  readonly #knownOf = new Counts();
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

  /**
   * The connection has sent a valid secret: it keeps its slot, unless the holder has its share of them.
   *
   * @param holder a key, or `''` for the secrets
   * @returns false: the connection has to end with the answer
   */
  keep(socket: Socket, holder: string): boolean {
    if (!this.#strangers.has(socket)) return true;
    const share = Math.ceil(this.#max * (holder === '' ? SECRETS_SHARE : KEY_SHARE));
    if (this.#knownOf.of(holder) >= share) return false;
    this.#leave(socket);
    this.#known.set(socket, holder);
    this.#knownOf.add(holder, 1);
    return true;
  }

  /** True when requests on the connection get 503. */
  isRefused(socket: Socket): boolean {
    return this.#refused.has(socket);
  }

  /** Ends the connections that have sent nothing, such as those that browsers open in advance: no request is under way on them. */
  endUnused(): void {
    for (const socket of this.#strangers.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  #enter(socket: Socket): void {
    if (this.#strangers.size + this.#known.size >= this.#max) {
      this.#tell();
      const leaving = this.#findLeaving();
      if (leaving === null) {
        this.#refused.add(socket);
        return;
      }
      this.#leave(leaving);
      leaving.destroy();
    }
    this.#occupy(socket);
  }

  /** The oldest stranger of the address with most of them. */
  #findLeaving(): Socket | null {
    const most = this.#strangersOf.most();
    for (const [socket, group] of this.#strangers) if (this.#strangersOf.of(group) === most) return socket;
    return null;
  }

  #occupy(socket: Socket): void {
    const group = addressGroup(socket.remoteAddress ?? '');
    this.#strangers.set(socket, group);
    this.#strangersOf.add(group, 1);
    socket.once('close', () => this.#leave(socket));
  }

  /** The TLS socket, which requests arrive on, takes over the slot of the connection below it. */
  #secure(socket: TLSSocket): void {
    const below = this.#handshakes.end(socket);
    if (below === null) return;
    if (this.#refused.has(below)) this.#refused.add(socket);
    if (!this.#strangers.has(below)) return;
    this.#leave(below);
    this.#occupy(socket);
  }

  #leave(socket: Socket): void {
    const group = this.#strangers.get(socket);
    if (group !== undefined) this.#strangersOf.add(group, -1);
    this.#strangers.delete(socket);
    const holder = this.#known.get(socket);
    if (holder !== undefined) this.#knownOf.add(holder, -1);
    this.#known.delete(socket);
  }

  #tell(): void {
    const { count } = this.#told.add('', this.#now());
    if (isWorthTelling(count)) this.#security.note('http.full', { max: this.#max, count });
  }
}

/** How many connections each has; in memory as long as it has one. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  most(): number {
    return Math.max(0, ...this.#counts.values());
  }

  add(name: string, change: 1 | -1): void {
    const count = this.of(name) + change;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}
