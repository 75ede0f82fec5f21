/**
 * An SMTP server that behaves, except where a script says otherwise: for the faults of real servers and lines. It keeps what it received,
 * so a test can compare the client's view with what happened.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { TestCertificate } from './certificate.ts';

/** Steps where the script may intervene; `message` comes once for each message, when its first 64 KiB have arrived. */
type Step =
  'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message' | 'dot' | 'rset' | 'quit';

/** Cuts the connection with RST. */
export const RESET = Symbol('reset');
/** The server closes the connection in order, after everything it has sent before. */
export const CLOSE = Symbol('close');
/** The server sends nothing more and reads nothing more, but keeps the connection. */
export const SILENCE = Symbol('silence');

/** Text goes out as it is, several pieces at intervals; a symbol ends the session. */
export type Reaction = string | Buffer | typeof RESET | typeof CLOSE | typeof SILENCE;

interface StepContext {
  /** Number of the connection, from 1. */
  readonly connection: number;
  /** How often this step happened on this connection, from 1. */
  readonly time: number;
  /** The command line without CRLF; empty for `connect`, `message` and `dot`. */
  readonly command: string;
}

export type Script = Partial<
  Record<Step, (context: StepContext) => Reaction | readonly Reaction[] | undefined>
>;

interface ReceivedMessage {
  readonly mailFrom: string;
  readonly rcptTo: readonly string[];
  /** As on the wire, with dot-stuffing undone and without the final dot. */
  readonly data: Buffer;
}

export interface ScriptedServerOptions {
  readonly script?: Script;
  /** EHLO keywords; default PIPELINING, 8BITMIME, SMTPUTF8, SIZE 1000000000. */
  readonly extensions?: readonly string[];
  /** Enables STARTTLS. */
  readonly certificate?: TestCertificate;
}

export interface ScriptedServer {
  readonly port: number;
  /** Messages whose final dot arrived, whatever the answer. */
  readonly received: readonly ReceivedMessage[];
  /** The received messages that got a 2yz reply. */
  readonly accepted: readonly ReceivedMessage[];
  /** Every command line of every connection. */
  readonly commands: readonly string[];
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  /** Writes to all open connections, unasked, then closes them if `andClose` is set. */
  shout(text: string, andClose?: boolean): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_EXTENSIONS = ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 1000000000'];
const MESSAGE_STEP_BYTES = 64 * 1024;

export async function startScriptedServer(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const received: ReceivedMessage[] = [];
  const accepted: ReceivedMessage[] = [];
  const commands: string[] = [];
  const sockets = new Map<Socket, () => Socket>();
  let connections = 0;

  const server = createServer((plain) => {
    connections += 1;
    let current: Socket = plain;
    plain.setNoDelay(true);
    sockets.set(plain, () => current);
    plain.on('close', () => sockets.delete(plain));
    void serve(connections, plain, options, { received, accepted, commands }, (socket) => {
      current = socket;
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    received,
    accepted,
    commands,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async shout(text, andClose = false) {
      const all = [...sockets.values()].map((current) => current());
      await Promise.all(
        all.map(
          (socket) =>
            new Promise<void>((resolve) => {
              socket.write(text, () => resolve());
              if (andClose) socket.end();
            }),
        ),
      );
    },
    async close() {
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

interface Ledger {
  readonly received: ReceivedMessage[];
  readonly accepted: ReceivedMessage[];
  readonly commands: string[];
}

async function serve(
  connection: number,
  plain: Socket,
  options: ScriptedServerOptions,
  ledger: Ledger,
  onSecured: (socket: Socket) => void,
): Promise<void> {
  let socket = plain;
  let secured = false;
  let mailFrom: string | null = null;
  let rcptTo: string[] = [];
  const times = new Map<Step, number>();

  /** Sends the script's answer, or the usual one. Returns the first line sent; null when the session is over. */
  async function react(step: Step, command: string, usual: string): Promise<string | null> {
    const time = (times.get(step) ?? 0) + 1;
    times.set(step, time);
    const scripted = options.script?.[step]?.({ connection, time, command });
    const reactions: readonly Reaction[] =
      scripted === undefined ? [usual] : isList(scripted) ? scripted : [scripted];
    for (const [index, reaction] of reactions.entries()) {
      if (typeof reaction === 'symbol') {
        if (reaction === RESET) plain.resetAndDestroy();
        if (reaction === CLOSE) socket.end();
        if (reaction === SILENCE) socket.pause();
        return null;
      }
      // At intervals, so that they arrive in pieces.
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, 15));
      if (reaction.length > 0) socket.write(reaction);
    }
    return reactions.map(String).join('').split('\r\n', 1)[0] ?? '';
  }

  function capabilities(): string {
    const extensions = options.extensions ?? DEFAULT_EXTENSIONS;
    const all = ['scripted.test', ...extensions, ...(options.certificate && !secured ? ['STARTTLS'] : [])];
    return all.map((line, index) => `250${index === all.length - 1 ? ' ' : '-'}${line}\r\n`).join('');
  }

  function reset(): void {
    mailFrom = null;
    rcptTo = [];
  }

  async function readMessage(input: Input): Promise<string | null> {
    const sample = await input.readMessage(async () => (await react('message', '', '')) !== null);
    if (sample === null || mailFrom === null) return null;
    const message = { mailFrom, rcptTo, data: sample };
    ledger.received.push(message);
    reset();
    const said = await react('dot', '', '250 2.0.0 Ok: queued\r\n');
    if (said?.startsWith('2')) ledger.accepted.push(message);
    return said;
  }

  async function obey(command: string, input: Input): Promise<string | null> {
    const verb = command.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') return react('ehlo', command, capabilities());
    if (verb === 'HELO') return react('ehlo', command, '250 scripted.test\r\n');
    if (verb === 'AUTH') return react('auth', command, '235 2.7.0 Welcome\r\n');
    if (verb === 'RSET') {
      reset();
      return react('rset', command, '250 2.0.0 Ok\r\n');
    }
    if (verb === 'MAIL') {
      const said = await react('mail', command, '250 2.1.0 Ok\r\n');
      if (said?.startsWith('2')) mailFrom = /<(.*)>/.exec(command)?.[1] ?? '';
      return said;
    }
    if (verb === 'RCPT') {
      const said = await react(
        'rcpt',
        command,
        mailFrom === null ? '503 5.5.1 Need MAIL\r\n' : '250 2.1.5 Ok\r\n',
      );
      if (said?.startsWith('2') && mailFrom !== null) rcptTo.push(/<(.*)>/.exec(command)?.[1] ?? '');
      return said;
    }
    if (verb === 'DATA') {
      const said = await react(
        'data',
        command,
        rcptTo.length === 0 ? '554 5.5.1 No valid recipients\r\n' : '354 Go\r\n',
      );
      return said?.startsWith('354') ? readMessage(input) : said;
    }
    if (verb === 'STAR') {
      const said = await react('starttls', command, '220 2.0.0 Go\r\n');
      if (said?.startsWith('220') && options.certificate) {
        input.detach();
        socket = new TLSSocket(plain, { isServer: true, ...options.certificate });
        onSecured(socket);
        secured = true;
        input.attach(socket);
      }
      return said;
    }
    if (verb === 'QUIT') {
      await react('quit', command, '221 2.0.0 Bye\r\n');
      socket.end();
      return null;
    }
    return react('quit', command, '500 5.5.2 What?\r\n');
  }

  const input = new Input();
  input.attach(plain);
  if ((await react('connect', '', '220 scripted.test ESMTP\r\n')) === null) return;
  for (;;) {
    const command = await input.readLine();
    if (command === null) return;
    ledger.commands.push(command);
    if ((await obey(command, input)) === null) return;
  }
}

function isList(reaction: Reaction | readonly Reaction[]): reaction is readonly Reaction[] {
  return Array.isArray(reaction);
}

/** Lines and messages from a socket that may be replaced by its TLS successor. */
class Input {
  #buffer = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};
  #detach: () => void = () => {};

  attach(socket: Socket): void {
    const onData = (chunk: Buffer): void => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      this.#wake();
    };
    const onEnd = (): void => {
      this.#ended = true;
      this.#wake();
    };
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
    this.#detach = () => socket.off('data', onData);
  }

  detach(): void {
    this.#detach();
    this.#buffer = Buffer.alloc(0);
  }

  async readLine(): Promise<string | null> {
    const found = await this.#wait(() => this.#buffer.indexOf('\r\n'));
    return found === null ? null : this.#take(found, 2).toString('utf8');
  }

  /** null if the connection ends, or `onLarge` ends it, before the final dot. */
  async readMessage(onLarge: () => Promise<boolean>): Promise<Buffer | null> {
    let large = false;
    for (;;) {
      const found = await this.#wait(() => {
        if (this.#buffer.subarray(0, 3).equals(Buffer.from('.\r\n'))) return 0;
        const end = this.#buffer.indexOf('\r\n.\r\n');
        if (end !== -1) return end;
        return !large && this.#buffer.length >= MESSAGE_STEP_BYTES ? -2 : -1;
      });
      if (found === null) return null;
      if (found === -2) {
        large = true;
        if (!(await onLarge())) return null;
      } else {
        const bytes = this.#take(found === 0 ? 0 : found + 2, 3);
        return Buffer.from(bytes.toString('latin1').replace(/^\./gm, ''), 'latin1');
      }
    }
  }

  #take(length: number, skip: number): Buffer {
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length + skip);
    return taken;
  }

  async #wait(find: () => number): Promise<number | null> {
    for (;;) {
      const found = find();
      if (found !== -1) return found;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
