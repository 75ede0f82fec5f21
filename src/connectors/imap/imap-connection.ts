/**
 * One connection of the IMAP library, with what the library lacks: an end to every command, one error that explains why the connection
 * ended, and a note of changes in the open mailbox meanwhile.
 *
 * The library's own timers are switched off where ours are stricter: its watchdog counts silence only, so a server that sends something now
 * and then would hold it up for ever.
 */
import { ImapFlow, type ImapFlowOptions } from 'imapflow';
import { MailboxError, type Uid } from '../../areas/mailboxes/mailbox-ports.ts';
import {
  LOGOUT_MS,
  MAX_COMMAND_BYTES,
  MAX_COMMAND_MS,
  MAX_LINE_BYTES,
  MAX_LIST_BYTES,
  MAX_LITERAL_BYTES,
  MAX_RESPONSE_BYTES,
  MAX_RESPONSE_TOKENS,
  WATCH_MS,
} from './limits.ts';
import { toMailboxError, type FailureContext } from './mailbox-failure.ts';
import type { SuspectUids } from './suspect-uids.ts';
import { VanishedUids, type VanishedResponse } from './vanished-uids.ts';

/** The longest time that a timer of Node.js can wait, in ms. */
const NEVER_MS = 2_147_483_647;

export interface ConnectionOptions extends Pick<
  ImapFlowOptions,
  'host' | 'port' | 'secure' | 'doSTARTTLS' | 'servername' | 'auth' | 'tls'
> {
  readonly context: FailureContext;
  readonly commandTimeoutMs: number;
  /** They belong to the account and outlive the connection. */
  readonly suspects: SuspectUids;
}

/** A private method of the library; tests on a real server fail when an update removes it. */
interface PrivateMethods {
  /** Called for VANISHED, within EXAMINE and elsewhere. */
  untaggedVanished(response: VanishedResponse): Promise<void>;
}

export class ImapConnection {
  readonly client: ImapFlow;
  readonly vanished: VanishedUids;
  readonly suspects: SuspectUids;
  /** Sizes that summaries reported in the open mailbox, by UID; removed when used. Not to be trusted. */
  readonly sizes = new Map<Uid, number>();
  /** Messages may have come or gone since this was last set to false. */
  changed = false;
  readonly #options: ConnectionOptions;
  /** Why the connection ended; the first reason is the true one. */
  #failure: MailboxError | null = null;
  /** Commands under way. */
  #active = 0;
  #closing: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(options: ConnectionOptions) {
    const { context, suspects, commandTimeoutMs: _, ...library } = options;
    this.#options = options;
    this.suspects = suspects;
    this.vanished = new VanishedUids(() => this.#noteChange());
    this.client = new ImapFlow({
      ...library,
      clientInfo: { name: 'email-worker', version: false, vendor: false, 'support-url': false },
      logger: false,
      disableAutoIdle: true,
      // Compression takes 250 KiB of memory for each connection, and lets a server turn a few bytes into many.
      disableCompression: true,
      // It offers nothing that we need, and servers are less used to it.
      disableIMAP4rev2: true,
      qresync: true,
      // MD5, the default, is not available where only FIPS algorithms are allowed.
      idHashAlgorithm: 'sha256',
      connectionTimeout: NEVER_MS,
      greetingTimeout: NEVER_MS,
      socketTimeout: NEVER_MS,
      maxLineLength: MAX_LINE_BYTES,
      maxLiteralSize: MAX_LITERAL_BYTES,
      maxResponseSize: MAX_RESPONSE_BYTES,
      maxResponseTokens: MAX_RESPONSE_TOKENS,
    });
    this.client.on('error', (error) => this.fail(toMailboxError(error, 'the connection', context)));
    this.client.on('close', () => this.#wake());
    this.client.on('exists', () => this.#noteChange());
    this.client.on('expunge', () => this.#noteChange());
    Object.assign(this.client, {
      untaggedVanished: async (response: VanishedResponse) => this.vanished.add(response),
    } satisfies PrivateMethods);
  }

  /** Greeting, TLS and login, all within `timeoutMs`. */
  async connect(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { server } = this.#options.context;
    const late = new MailboxError('connection', `${server}: no connection within ${Math.ceil(timeoutMs)} ms`);
    const timer = setTimeout(() => this.fail(late), timeoutMs);
    const stop = (): void => this.fail(new MailboxError('connection', `${server}: connecting was stopped`));
    signal.addEventListener('abort', stop, { once: true });
    const watch = this.#watch('login', MAX_LIST_BYTES);
    try {
      if (signal.aborted) stop();
      await Promise.race([this.client.connect(), watch.expired]);
    } catch (error) {
      throw this.#over(error, 'login');
    } finally {
      watch.stop();
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /**
   * Runs a command, with a bound on the server's silence, on the whole time, and on what the server sends meanwhile.
   *
   * @param step the command's name in messages
   * @param uploadMs how much longer the server may be silent while it receives something large
   */
  async run<T>(
    step: string,
    command: () => Promise<T>,
    maxBytes: number = MAX_COMMAND_BYTES,
    uploadMs = 0,
  ): Promise<T> {
    this.assertOpen();
    this.#active += 1;
    const watch = this.#watch(step, maxBytes, uploadMs);
    try {
      return await Promise.race([command(), watch.expired]);
    } catch (error) {
      throw this.#over(error, step);
    } finally {
      watch.stop();
      this.#active -= 1;
    }
  }

  assertOpen(): void {
    if (this.#failure !== null) throw this.#failure;
    if (!this.client.usable)
      throw this.#over(new Error(this.client.byeReason ?? 'the server closed it'), 'the connection');
  }

  /** Ends the connection at once. Only the first reason counts. */
  fail(reason: MailboxError): void {
    this.#failure ??= reason;
    this.client.close();
    this.#wake();
  }

  /** Calls `listener` when something changed or the connection ended; returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Logs out when no command is under way; otherwise cuts the line. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.client.usable && this.#active === 0) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, LOGOUT_MS);
      });
      // If the line breaks instead, it is to be closed anyway.
      const logout = this.client.logout().catch(() => {});
      await Promise.race([logout, late]);
      clearTimeout(timer);
    }
    this.fail(new MailboxError('connection', `${this.#options.context.server}: the session was closed`));
  }

  #noteChange(): void {
    this.changed = true;
    this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The error to throw; an error about the connection ends it. */
  #over(error: unknown, step: string): MailboxError {
    if (this.#failure !== null) return this.#failure;
    const failure = toMailboxError(error, step, this.#options.context);
    if (failure.kind !== 'refused') this.fail(failure);
    return failure;
  }

  #watch(step: string, maxBytes: number, uploadMs = 0): { expired: Promise<never>; stop(): void } {
    const { commandTimeoutMs, context } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<never>((_, reject) => {
      const start = performance.now();
      const before = this.client.stats().received;
      let received = before;
      let heardAt = start;
      const check = (): void => {
        const now = performance.now();
        const bytes = this.client.stats().received;
        if (bytes !== received) heardAt = now;
        received = bytes;
        const fault =
          bytes - before > maxBytes
            ? 'too long an answer to'
            : now - start > MAX_COMMAND_MS + uploadMs
              ? 'no end of the answer to'
              : now - heardAt > commandTimeoutMs + uploadMs
                ? 'no answer to'
                : null;
        if (fault !== null) reject(new MailboxError('connection', `${context.server}: ${fault} ${step}`));
      };
      timer = setInterval(check, Math.min(WATCH_MS, commandTimeoutMs));
    });
    return { expired, stop: () => clearInterval(timer) };
  }
}
