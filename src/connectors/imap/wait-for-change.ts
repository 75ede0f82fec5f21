/**
 * Waits for messages to come or go: with IDLE (RFC 2177), renewed with a NOOP, so that a dead line is noticed and no server logs us out;
 * without IDLE, with a NOOP from time to time.
 */
import type { ImapConnection } from './imap-connection.ts';
import { MIN_IDLE_MS, POLL_MS } from './limits.ts';

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly idleRenewMs: number;
  readonly signal: AbortSignal;
}

export class ChangeWaiter {
  readonly #connection: ImapConnection;
  /** False once the server has refused IDLE, or ended it at once. */
  #idleWorks = true;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  get canIdle(): boolean {
    return this.#idleWorks && this.#connection.client.capabilities.has('IDLE');
  }

  async wait(options: WaitOptions): Promise<'changed' | 'timeout' | 'stopped'> {
    const { signal } = options;
    const end = performance.now() + options.timeoutMs;
    // An IDLE may be left over from a wait that was stopped.
    if (this.#connection.client.idling && !signal.aborted) await this.#ask();
    for (;;) {
      this.#connection.assertOpen();
      if (this.#connection.changed) {
        this.#connection.changed = false;
        return 'changed';
      }
      // An IDLE that is under way ends before the next command.
      if (signal.aborted) return 'stopped';
      const left = end - performance.now();
      if (left <= 0) return 'timeout';
      if (this.canIdle) await this.#idle(Math.min(left, options.idleRenewMs), signal);
      else await this.#pause(Math.min(left, POLL_MS), signal, null);
      if (!signal.aborted) await this.#ask();
    }
  }

  /** Ends an IDLE, shows whether the line is alive, and lets the server report news. */
  #ask(): Promise<void> {
    return this.#connection.run('NOOP', () => this.#connection.client.noop());
  }

  async #idle(ms: number, signal: AbortSignal): Promise<void> {
    const start = performance.now();
    const { client } = this.#connection;
    // The library returns false when the server refused IDLE, and when the line broke.
    const ended = client.idle().catch(() => false);
    if (!(await this.#pause(ms, signal, ended))) return;
    this.#connection.assertOpen();
    if (performance.now() - start < MIN_IDLE_MS) this.#idleWorks = false;
  }

  /** Resolves when something changed, the connection ended, `ms` went by, `signal` aborts, or `ended` settles; true for the last. */
  #pause(ms: number, signal: AbortSignal, ended: Promise<unknown> | null): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (result: boolean): void => {
        clearTimeout(timer);
        stopListening();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = (): void => finish(false);
      const timer = setTimeout(() => finish(false), ms);
      const stopListening = this.#connection.onChange(() => finish(false));
      signal.addEventListener('abort', onAbort, { once: true });
      const end = () => finish(true);
      ended?.then(end, end);
    });
  }
}
