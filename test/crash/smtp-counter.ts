/** The counting mail server as seen by the harness: start, kill, pause, and read its ledger. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { PutOff } from './retries.ts';

const PROGRAM = fileURLToPath(new URL('./smtp-counter.mjs', import.meta.url));

/** One accepted message. */
export interface LedgerLine {
  /** The word of the subject that identifies the request. */
  readonly token: string;
  /** With angle brackets. */
  readonly messageId: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly rcptTo: readonly string[];
  /** When the line was written, in ms since 1970. */
  readonly at: number;
}

export class SmtpCounter {
  readonly #ledger: string;
  #child: ChildProcess | null = null;
  #readTo = 0;
  readonly #putOff: PutOff[] = [];
  readonly #replyMs: readonly number[];
  port = 0;

  /** @param replyMs how long the replies to accepted messages take, used in turn */
  constructor(ledger: string, replyMs: readonly number[] = [0]) {
    this.#ledger = ledger;
    this.#replyMs = replyMs;
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** Resolves when it listens, or when it was killed before that. */
  async start(): Promise<void> {
    if (this.#child !== null) return;
    const child = fork(PROGRAM, [this.#ledger], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    // Messages to a process that was just killed fail.
    child.on('error', () => undefined);
    const ended = new AbortController();
    child.once('exit', () => ended.abort());
    const message = await once(child, 'message', { signal: ended.signal }).catch(() => null);
    if (message === null) return;
    this.port = (message as [{ port: number }])[0].port;
    child.send({ replyMs: this.#replyMs });
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** `SIGSTOP` or `SIGCONT`. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  /** The next accepted messages get a reset instead of their 250. */
  dropReplies(count: number): void {
    this.#child?.send({ dropReplies: count });
  }

  /** Attempts of the tokens with this prefix that were put off, as far as lines have been read. */
  putOff(prefix: string): readonly PutOff[] {
    return this.#putOff.filter(({ token }) => token.startsWith(prefix));
  }

  /** Accepted messages added since the last call. */
  async readNew(): Promise<readonly LedgerLine[]> {
    const file = await open(this.#ledger, 'a+');
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(size - this.#readTo);
      await file.read(buffer, 0, buffer.length, this.#readTo);
      const whole = buffer.subarray(0, buffer.lastIndexOf(0x0a) + 1);
      this.#readTo += whole.length;
      const lines = whole.toString().split('\n').filter(Boolean);
      const read = lines.map((line) => JSON.parse(line) as LedgerLine & { readonly putOff: boolean });
      this.#putOff.push(...read.filter(({ putOff }) => putOff));
      return read.filter(({ putOff }) => !putOff);
    } finally {
      await file.close();
    }
  }
}
