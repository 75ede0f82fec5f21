/**
 * `SenderCheck` in a thread of its own, which is started for the first message and replaced when it fails or hangs. A thread that failed may
 * have failed by any of its messages: each of them is checked again alone. A message that breaks that thread too has not passed.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../platform/base/basics.ts';
import type { SenderCheck, SenderFacts } from '../../areas/receive/sender-check.ts';
import { ServiceError } from '../../core/errors.ts';
import type { AuthResults } from '../../core/message/authentication.ts';
import { NOT_CHECKED } from './not-checked.ts';

export interface SenderQuestion extends SenderFacts {
  readonly id: number;
}
export type SenderAnswer =
  /** The result should the message break the rest of its check. */
  | { readonly kind: 'known'; readonly id: number; readonly results: AuthResults }
  | { readonly kind: 'checked'; readonly id: number; readonly results: AuthResults }
  /** In English. */
  | { readonly kind: 'unread'; readonly id: number; readonly detail: string };

export interface SenderCheckOptions {
  /** File of the thread's program; see sender-worker.ts. */
  readonly program: string;
  /** `address` or `address:port`; empty: the system's servers. */
  readonly dnsServers: readonly string[];
  readonly logger: Logger;
  /** Default: CHECK_TIMEOUT_MS. */
  readonly timeoutMs?: number;
}

/**
 * Time limit for one message in one thread, all its DNS look-ups included, in ms. The client waits for its reply meanwhile; RFC 5321 gives it
 * 10 minutes.
 */
const CHECK_TIMEOUT_MS = 40_000;
/** Messages checked at the same moment; further ones are put off. */
const MAX_OPEN = 200;
/** Threads for single messages at the same moment; further ones are put off. */
const MAX_ALONE = 2;
/** Limit of a thread's heap. Messages are read in pieces. */
const MEMORY_MB = 192;

type Outcome =
  | { readonly kind: 'checked'; readonly results: AuthResults }
  | { readonly kind: 'broken'; readonly known: AuthResults | null }
  | { readonly kind: 'late' }
  | { readonly kind: 'unread' };

/** Starts no thread before it is needed. */
export function createSenderCheck(options: SenderCheckOptions): SenderCheck & { close(): Promise<void> } {
  const { logger } = options;
  const threads = new Set<SenderThread>();
  let common: SenderThread | null = null;
  let openCount = 0;

  function start(): SenderThread {
    const thread = new SenderThread(options, () => {
      threads.delete(thread);
      if (common === thread) common = null;
    });
    threads.add(thread);
    return thread;
  }

  async function checkAlone(facts: SenderFacts): Promise<Outcome> {
    if ([...threads].filter((one) => one !== common).length >= MAX_ALONE) return { kind: 'late' };
    const thread = start();
    try {
      return await thread.check(facts);
    } finally {
      await thread.end();
    }
  }

  async function checkTwice(facts: SenderFacts): Promise<AuthResults> {
    common ??= start();
    let outcome = await common.check(facts);
    if (outcome.kind === 'broken' || outcome.kind === 'late') outcome = await checkAlone(facts);
    if (outcome.kind === 'checked') return outcome.results;
    logger.warn({ outcome: outcome.kind }, 'the sender of a message could not be checked');
    if (outcome.kind === 'broken') return outcome.known ?? NOT_CHECKED;
    throw new ServiceError('busy');
  }

  return {
    async check(facts) {
      if (openCount >= MAX_OPEN) throw new ServiceError('busy');
      openCount++;
      try {
        return await checkTwice(facts);
      } finally {
        openCount--;
      }
    },
    async close() {
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

class SenderThread {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  readonly #open = new Map<number, { answer(outcome: Outcome): void; known: AuthResults | null }>();
  #nextId = 1;
  #ending: Promise<unknown> | null = null;

  constructor(
    { program, dnsServers, logger, timeoutMs = CHECK_TIMEOUT_MS }: SenderCheckOptions,
    onEnd: () => void,
  ) {
    this.#timeoutMs = timeoutMs;
    this.#worker = new Worker(program, {
      workerData: { dnsServers },
      env: {},
      // The library prints its notes on some signatures there.
      stdout: true,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    this.#worker.unref();
    this.#worker.stdout.resume();
    this.#worker.on('message', (answer: SenderAnswer) => {
      const question = this.#open.get(answer.id);
      if (question === undefined) return;
      if (answer.kind === 'known') question.known = answer.results;
      else if (answer.kind === 'checked') question.answer(answer);
      else {
        logger.warn({ detail: answer.detail }, 'a message could not be read to check its sender');
        question.answer({ kind: 'unread' });
      }
    });
    this.#worker.on('error', (err) => logger.error({ err }, 'the thread that checks senders failed'));
    this.#worker.once('exit', () => {
      onEnd();
      for (const { answer, known } of this.#open.values()) answer({ kind: 'broken', known });
    });
  }

  async check(facts: SenderFacts): Promise<Outcome> {
    const id = this.#nextId++;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        answer({ kind: 'late' });
        // The thread may be stuck on one message for ever.
        this.end().catch(() => undefined);
      }, this.#timeoutMs);
      const answer = (outcome: Outcome): void => {
        clearTimeout(timer);
        this.#open.delete(id);
        resolve(outcome);
      };
      this.#open.set(id, { answer, known: null });
      this.#worker.postMessage({ id, ...facts } satisfies SenderQuestion, []);
    });
  }

  async end(): Promise<void> {
    this.#ending ??= this.#worker.terminate();
    await this.#ending;
  }
}
