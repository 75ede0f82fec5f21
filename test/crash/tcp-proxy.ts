/** A TCP line between two programs that can be cut, stalled or made silent, at once or at a moment of the conversation. */
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Mark, Moment, Watcher } from './stream-watchers.ts';

export interface LinkFault {
  readonly moment: Moment;
  /** `cut`: both ends learn of it. `silence`: nothing passes any more, and neither end is told. */
  readonly action: 'cut' | 'silence';
  /** How many such moments pass before the fault acts. */
  readonly skip: number;
}

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  silent: boolean;
  /** Sides whose piece is on its way; reading from them resumes when it has arrived. */
  readonly held: Set<Socket>;
  readonly delayMs: () => number;
}

export class TcpProxy {
  readonly #server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket));
  readonly #lines = new Set<Line>();
  readonly #createWatcher: () => Watcher;
  readonly #createDelay: () => () => number;
  #faults: { fault: LinkFault; left: number }[] = [];
  #mode: 'open' | 'refusing' | 'stalled' | 'silent' = 'open';
  /** Number of armed faults that happened. */
  hits = 0;
  /** Target of new connections; null refuses them. */
  target: NetConnectOpts | null = null;

  /** @param createDelay makes, for each line, the function that gives the delay of its next piece; 0 passes it at once */
  constructor(createWatcher: () => Watcher, createDelay: () => () => number = () => () => 0) {
    this.#createWatcher = createWatcher;
    this.#createDelay = createDelay;
  }

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** One line breaks when the moment comes. */
  arm(fault: LinkFault): void {
    this.#faults.push({ fault, left: fault.skip });
  }

  /** All lines break now. */
  cut(): void {
    for (const line of this.#lines) breakLine(line);
  }

  /** Until `heal`, new connections are refused; open ones continue. */
  refuse(): void {
    this.#mode = 'refusing';
  }

  /** Until `heal`, nothing passes; then everything continues. */
  stall(): void {
    this.#mode = 'stalled';
    for (const { client, server } of this.#lines) {
      client.pause();
      server.pause();
    }
  }

  /** Until `heal`, nothing passes, not even on new connections; then the lines are cut. */
  silence(): void {
    this.#mode = 'silent';
    for (const line of this.#lines) silenceLine(line);
  }

  /** Lines that fell silent are cut, or stay silent for ever, as behind a firewall that forgot them. */
  heal(cutSilent = true): void {
    this.#mode = 'open';
    this.#faults = [];
    for (const line of this.#lines) {
      if (line.silent && cutSilent) breakLine(line);
      else if (!line.silent) {
        resume(line, line.client);
        resume(line, line.server);
      }
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refusing' || this.target === null) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ ...this.target, noDelay: true } as NetConnectOpts);
    client.setNoDelay(true);
    const line: Line = { client, server, silent: false, held: new Set(), delayMs: this.#createDelay() };
    this.#lines.add(line);
    const watcher = this.#createWatcher();
    client.on('data', (chunk) => this.#carry(line, chunk, watcher.fromClient(chunk), server, client));
    server.on('data', (chunk) => this.#carry(line, chunk, watcher.fromServer(chunk), client, server));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => (to === client ? client.resetAndDestroy() : to.destroy()));
      from.on('end', () => line.silent || to.end());
      from.on('close', () => {
        if (!line.silent) to.destroy();
        // A silent line is over for one side only; it is cut when everything is healed.
        if (!line.silent || to.destroyed) this.#lines.delete(line);
      });
      from.on('drain', () => !line.silent && this.#mode !== 'stalled' && resume(line, to));
    }
    if (this.#mode === 'silent') silenceLine(line);
    else if (this.#mode !== 'stalled') client.resume();
  }

  #carry(line: Line, chunk: Buffer, marks: readonly Mark[], to: Socket, from: Socket): void {
    const delayMs = line.delayMs();
    if (delayMs === 0) {
      this.#pass(line, chunk, marks, to, from);
      return;
    }
    // The next piece of this side is not read before this one has arrived, so their order is kept.
    line.held.add(from);
    from.pause();
    setTimeout(() => {
      line.held.delete(from);
      if (line.silent || this.#mode !== 'stalled') from.resume();
      this.#pass(line, chunk, marks, to, from);
    }, delayMs);
  }

  #pass(line: Line, chunk: Buffer, marks: readonly Mark[], to: Socket, from: Socket): void {
    if (line.silent) return;
    const hit = this.#findHit(marks);
    if (hit !== null) {
      this.hits += 1;
      to.write(chunk.subarray(0, hit.offset));
      if (hit.action === 'cut') breakLine(line);
      else silenceLine(line);
      return;
    }
    if (!to.write(chunk)) from.pause();
  }

  #findHit(marks: readonly Mark[]): { offset: number; action: LinkFault['action'] } | null {
    for (const { moment, offset } of marks) {
      for (const armed of this.#faults) {
        if (armed.fault.moment !== moment) continue;
        if (armed.left > 0) armed.left -= 1;
        else {
          this.#faults.splice(this.#faults.indexOf(armed), 1);
          return { offset, action: armed.fault.action };
        }
      }
    }
    return null;
  }
}

/** The server still gets everything written to it before, as from a network that lost only later data. */
function breakLine(line: Line): void {
  line.silent = true;
  line.client.resetAndDestroy();
  line.server.end();
  line.server.resume();
  line.server.on('data', () => undefined);
}

/** Resumes reading a side, unless a piece of it is still on its way. */
function resume(line: Line, side: Socket): void {
  if (!line.held.has(side)) side.resume();
}

/** Both sides may go on writing into the void. */
function silenceLine(line: Line): void {
  line.silent = true;
  line.client.resume();
  line.server.resume();
}
