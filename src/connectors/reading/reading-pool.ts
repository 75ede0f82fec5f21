/**
 * Reads mail in separate processes, which are kept; docs/decisions/0014-reading-processes.md explains why they are not threads.
 *
 * A process answers one question after the other, and already has the next one when it finishes one. When a process ends, the question in
 * hand is to blame if a limit was passed, or if a process ends at it twice; all others are asked again. A slow process does not count while
 * it is slow: another one takes its place, so that a few bad mails do not hold up the rest.
 *
 * Those who ask take turns, and only part of the processes works for one key at a time: the rest is left for the others.
 */
import {
  MAIL,
  type MessageReader,
  type ReadingKind,
  type Readings,
  type ReadResult,
} from '../../platform/reading/reading-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { ServiceError } from '../../core/errors.ts';
import { FairQueue } from '../../platform/base/fair-queue.ts';
import type { Question } from './protocol.ts';
import { ReadingProcess, type ProcessEnd, type ReadingLimits } from './reading-process.ts';

export interface ReadingPoolOptions extends ReadingLimits {
  /** Processes that read at the same time; as many again while these are slow. */
  readonly processes: number;
  /**
   * Questions that a process has at once: the one in hand and those that wait behind it, so that many are answered in one go. Those behind
   * a question share its fate for as long as it is not slow.
   */
  readonly maxLoad: number;
  /** The priority of the processes, from 0, that of the service, to 19, the lowest. */
  readonly niceness: number;
  /** File of the program that runs in the processes; see child.ts. */
  readonly program: string;
  readonly logger: Logger;
}

/** How often processes are checked, in ms. */
const LOOK_MS = 100;
/**
 * How long questions wait without a break before another process is started beside a quick one, in ms. Starting a process and having its
 * code compiled takes as long as some hundred mails, and one process reads faster than the service records.
 */
const BACKLOG_MS = 500;
/** A process that had nothing to do for so long is ended, except the last one, in ms. */
const IDLE_MS = 30_000;
/** Unexplained deaths, such as being killed by the system for want of memory, before the mail is taken for the cause. */
const MAX_DEATHS = 2;
/** Processes in a row that end before they can be asked; after that, waiting questions fail. */
const MAX_FAILED_STARTS = 3;
/** Then the wait before the next one is started, in ms. */
const RESTART_MS = 200;
/** Questions of one key that may wait: more than any of its requests needs at once, and little memory. */
export const MAX_WAITING = 200;
/** When a key with too many of them may ask again, in seconds. */
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly question: Question;
  readonly asker: string;
  deaths: number;
  readonly resolve: (result: ReadResult<unknown>) => void;
  readonly reject: (error: Error) => void;
}

export interface ReadingPool extends MessageReader {
  /** Ends all processes; nothing can be read any more. */
  close(): Promise<void>;
}

/** Starts no process before it is needed. */
export function createReadingPool(options: ReadingPoolOptions): ReadingPool {
  return new Pool(options);
}

class Pool implements ReadingPool {
  readonly #options: ReadingPoolOptions;
  readonly #processes = new Set<ReadingProcess>();
  /** All questions that have no answer yet, by id. */
  readonly #open = new Map<number, Waiting>();
  /** Of these, the questions that no process has. */
  readonly #queue = new FairQueue<Waiting>();
  /** By asker: the questions that processes have. */
  readonly #inHand = new Map<string, number>();
  #nextId = 1;
  #failedStarts = 0;
  #restart: NodeJS.Timeout | null = null;
  #looking: NodeJS.Timeout | null = null;
  #lookedAt = 0;
  /** Since when questions have waited for a place in quick processes; null while none waits. */
  #backlogSince: number | null = null;
  #isClosed = false;
  #onEmpty: () => void = () => undefined;

  constructor(options: ReadingPoolOptions) {
    this.#options = options;
  }

  async read<K extends ReadingKind>(
    kind: K,
    asked: Readings[K]['asked'],
    asker: string = MAIL,
  ): Promise<ReadResult<Readings[K]['given']>> {
    if (this.#isClosed) throw new ServiceError('shutting_down');
    if (asker !== MAIL && this.#queue.countOf(asker) >= MAX_WAITING) {
      throw new ServiceError('rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const result = await new Promise<ReadResult<unknown>>((resolve, reject) => {
      const waiting: Waiting = {
        question: { id: this.#nextId++, kind, asked },
        asker,
        deaths: 0,
        resolve,
        reject,
      };
      this.#open.set(waiting.question.id, waiting);
      // Only whole messages are numerous, and only they take long.
      if (kind === 'message' || asker !== MAIL) this.#queue.push(asker, waiting);
      else this.#queue.unshift(asker, waiting);
      this.#work();
    });
    return result as ReadResult<Readings[K]['given']>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (this.#looking !== null) clearInterval(this.#looking);
    const ended = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    // The processes hold nothing that would be lost.
    for (const process of this.#processes) process.kill();
    if (this.#processes.size > 0) await ended;
    for (const { reject } of this.#open.values()) reject(new ServiceError('shutting_down'));
    this.#open.clear();
  }

  /** Hands out the waiting questions, and starts missing processes. */
  #work(): void {
    for (let process = this.#fullest(); process !== null; process = this.#fullest()) {
      const next = this.#queue.take(this.#mayHaveTurn);
      if (next === null) break;
      this.#count(next.asker, 1);
      process.ask(next.question);
    }
    this.#startMissing();
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
  }

  /** The processes that are left for others make up for those that this asker keeps busy. */
  readonly #mayHaveTurn = (asker: string): boolean =>
    asker === MAIL || (this.#inHand.get(asker) ?? 0) < this.#options.processes;

  #count(asker: string, change: 1 | -1): void {
    const count = (this.#inHand.get(asker) ?? 0) + change;
    if (count === 0) this.#inHand.delete(asker);
    else this.#inHand.set(asker, count);
  }

  /** Of the processes with room: one that is at work need not be woken, and one whose code is warm takes half as long. */
  #fullest(): ReadingProcess | null {
    let best: ReadingProcess | null = null;
    for (const process of this.#processes) {
      if (!process.takesQuestions || process.isSlow || process.load >= this.#options.maxLoad) continue;
      if (best === null || process.load > best.load) best = process;
    }
    return best;
  }

  #startMissing(): void {
    const { processes } = this.#options;
    const all = [...this.#processes];
    const starting = all.filter(({ isReady }) => !isReady).length;
    const quick = starting + all.filter((one) => one.takesQuestions && !one.isSlow).length;
    const isWaiting = this.#queue.has(this.#mayHaveTurn);
    const isBacklog = isWaiting && quick > 0 && starting === 0;
    this.#backlogSince = isBacklog ? (this.#backlogSince ?? performance.now()) : null;
    const isLate = this.#backlogSince !== null && performance.now() - this.#backlogSince > BACKLOG_MS;
    const isWanted = isWaiting && (quick === 0 || isLate);
    if (!isWanted || quick >= processes || all.length >= 2 * processes) return;
    if (this.#restart !== null || this.#isClosed) return;
    this.#processes.add(
      new ReadingProcess(this.#options.program, this.#options, {
        onReady: () => {
          this.#failedStarts = 0;
          this.#work();
        },
        onAnswer: (_process, { id }, answer) => {
          this.#answer(
            id,
            answer.kind === 'read'
              ? { kind: 'read', value: answer.value }
              : { kind: 'failed', reason: 'crash', detail: answer.detail },
          );
          this.#work();
        },
        onEnd: (process, end) => this.#mourn(process, end),
      }),
    );
  }

  #answer(id: number, result: ReadResult<unknown>): void {
    const waiting = this.#open.get(id);
    if (waiting === undefined) return;
    this.#count(waiting.asker, -1);
    this.#open.delete(id);
    waiting.resolve(result);
  }

  #mourn(process: ReadingProcess, { unanswered, isFirstInHand, reason, detail }: ProcessEnd): void {
    this.#processes.delete(process);
    if (this.#isClosed) {
      if (this.#processes.size === 0) this.#onEmpty();
      return;
    }
    if (!process.isReady) this.#noteFailedStart(detail);
    const again: Waiting[] = [];
    for (const [index, { id }] of unanswered.entries()) {
      const waiting = this.#open.get(id);
      if (waiting === undefined) continue;
      if (index === 0 && isFirstInHand) {
        waiting.deaths += 1;
        if (reason !== null || waiting.deaths >= MAX_DEATHS) {
          this.#answer(id, { kind: 'failed', reason: reason ?? 'crash', detail });
          continue;
        }
      }
      again.push(waiting);
    }
    this.#putBack(again);
    this.#work();
  }

  #noteFailedStart(detail: string): void {
    this.#failedStarts += 1;
    this.#options.logger.error({ detail }, 'a process that reads mail could not be started');
    if (this.#failedStarts >= MAX_FAILED_STARTS && this.#processes.size === 0) {
      this.#failedStarts = 0;
      for (const { question, reject } of this.#queue.clear()) {
        this.#open.delete(question.id);
        reject(new ServiceError('reading_unavailable', { cause: new Error(detail) }));
      }
      return;
    }
    this.#restart ??= setTimeout(() => {
      this.#restart = null;
      this.#work();
    }, RESTART_MS);
  }

  #look(): void {
    const now = performance.now();
    const sinceLastMs = now - this.#lookedAt;
    this.#lookedAt = now;
    for (const process of this.#processes) {
      process.look(sinceLastMs);
      if (process.isSlow && process.load > 1) this.#askElsewhere(process.takeBack());
    }
    this.#work();
    this.#endIdle(now);
  }

  #askElsewhere(questions: readonly Question[]): void {
    this.#putBack(questions.flatMap(({ id }) => this.#open.get(id) ?? []));
  }

  /** Before all others of the same askers, in their order. */
  #putBack(questions: readonly Waiting[]): void {
    for (const waiting of questions.toReversed()) {
      this.#count(waiting.asker, -1);
      this.#queue.unshift(waiting.asker, waiting);
    }
  }

  #endIdle(now: number): void {
    const idle = [...this.#processes].filter((one) => one.takesQuestions && one.load === 0);
    if (idle.length < this.#processes.size) return;
    for (const process of idle.slice(1)) {
      if (now - process.idleSince > IDLE_MS) process.kill();
    }
    if (this.#processes.size > 1 || this.#looking === null) return;
    clearInterval(this.#looking);
    this.#looking = null;
  }
}
