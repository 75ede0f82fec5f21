/**
 * A reading process, seen from within: answers questions, one after the other. It has nothing but the question: no secrets, no connections.
 * The asking process ends it when a question takes too long or too much memory.
 */
import { Script } from 'node:vm';
import { startOrphanWatch, type OrphanWatch } from './orphan-watch.ts';
import type { Answer, Question } from './protocol.ts';

/** The time limit of a reading when the service that would end it is gone, in ms: above every limit of the service. */
const ORPHAN_MS = 10 * 60_000;
/** From this many questions on, a thread watches for the end of the service. A process that has read so many mails will read many more. */
const WATCHED_FROM = 100;

const CALL = Symbol.for('email-worker.reading');
/**
 * Ends code that does not return, with a watchdog of the engine. It costs a thread for each question: 50 µs, and on a busy machine the time
 * until that thread has had its turn, which can be as long as the reading.
 */
const guarded = new Script(`globalThis[Symbol.for(${JSON.stringify(CALL.description)})]()`);

/**
 * Answers until the asking process goes away.
 *
 * @param prepare loads what a question needs, before its time begins
 */
export function serveReadings(
  read: (question: Question) => unknown,
  prepare: (question: Question) => Promise<void> = () => Promise.resolve(),
  orphanMs = ORPHAN_MS,
): void {
  const waiting: Question[] = [];
  let isBusy = false;
  let questions = 0;
  let watch: OrphanWatch | null = null;

  const serve = async () => {
    if (isBusy) return;
    isBusy = true;
    for (let question = waiting.shift(); question !== undefined; question = waiting.shift()) {
      await prepare(question);
      questions += 1;
      if (questions === WATCHED_FROM) watch = startOrphanWatch();
      await say(
        answer(watch?.isOn === true ? () => read(question) : guard(read, question, orphanMs), question),
      );
    }
    isBusy = false;
  };
  process.on('message', (question: Question) => {
    waiting.push(question);
    serve().catch(endInError);
  });
  process.on('disconnect', () => process.exit());
  // Signals go to the whole group of processes, and the service ends this one when it has the answers it asked for.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  say({ kind: 'ready' }).catch(endInError);
}

/** The asking process starts another one. */
function endInError(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
  process.exit(1);
}

function guard(read: (question: Question) => unknown, question: Question, timeout: number): () => unknown {
  return () => {
    Object.defineProperty(globalThis, CALL, { configurable: true, value: () => read(question) });
    return guarded.runInThisContext({ timeout });
  };
}

function answer(read: () => unknown, { id }: Question): Answer {
  try {
    return { kind: 'read', id, value: read() };
  } catch (error) {
    return {
      kind: 'threw',
      id,
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

/** Resolves when the answer is written: the next question may never end. */
function say(answer: Answer): Promise<void> {
  return new Promise((resolve) => {
    // The answer can't be written when the asking process is gone, and then `disconnect` follows.
    process.send?.(answer, undefined, {}, () => resolve());
  });
}
