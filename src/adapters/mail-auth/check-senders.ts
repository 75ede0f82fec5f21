/** `SenderCheck` in its own thread, which is started for the first message and replaced when it fails or hangs. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../app/base/basics.ts';
import type { SenderCheck, SenderFacts } from '../../app/receive/sender-check.ts';
import type { AuthResults } from '../../core/message/authentication.ts';

export interface SenderQuestion extends SenderFacts {
  readonly id: number;
}

export type SenderAnswer =
  | { readonly id: number; readonly results: AuthResults }
  /** In English. */
  | { readonly id: number; readonly detail: string };

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
 * Time limit for one message, all its DNS look-ups included, in ms. The client waits for its reply meanwhile; RFC 5321 gives it 10 minutes.
 */
const CHECK_TIMEOUT_MS = 40_000;
/** Messages checked at the same moment; further ones are recorded unchecked. */
const MAX_OPEN = 200;
/** Limit of the thread's heap. Messages are read in pieces. */
const MEMORY_MB = 192;

/** Starts no thread before it is needed. */
export function createSenderCheck(options: SenderCheckOptions): SenderCheck & { close(): Promise<void> } {
  const { program, dnsServers, logger, timeoutMs = CHECK_TIMEOUT_MS } = options;
  const open = new Map<number, (results: AuthResults | null) => void>();
  let worker: Worker | null = null;
  let nextId = 1;

  const answerTo = (id: number, results: AuthResults | null): void => {
    open.get(id)?.(results);
    open.delete(id);
  };

  function start(): Worker {
    const started = new Worker(program, {
      workerData: { dnsServers },
      env: {},
      // The library prints its notes on some signatures there.
      stdout: true,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    started.unref();
    started.stdout.resume();
    started.on('message', (answer: SenderAnswer) => {
      if ('detail' in answer)
        logger.warn({ detail: answer.detail }, 'the sender of a message could not be checked');
      answerTo(answer.id, 'results' in answer ? answer.results : null);
    });
    started.on('error', (err) => logger.error({ err }, 'the thread that checks senders failed'));
    started.on('exit', () => {
      if (worker !== started) return;
      worker = null;
      for (const id of open.keys()) answerTo(id, null);
    });
    return started;
  }

  return {
    async check(facts) {
      if (open.size >= MAX_OPEN) return null;
      const id = nextId++;
      worker ??= start();
      const asked = worker;
      return await new Promise((resolve) => {
        const timer = setTimeout(() => {
          logger.warn({}, 'the sender of a message could not be checked in time');
          answerTo(id, null);
          // The thread may be stuck on one message for ever.
          asked.terminate().catch(() => undefined);
        }, timeoutMs);
        open.set(id, (results) => {
          clearTimeout(timer);
          resolve(results);
        });
        asked.postMessage({ id, ...facts } satisfies SenderQuestion, []);
      });
    },
    async close() {
      await worker?.terminate();
    },
  };
}
