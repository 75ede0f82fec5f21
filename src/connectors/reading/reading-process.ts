/**
 * One reading process, seen from outside: asks it questions, watches what it uses for the question in hand, ends it when it uses too much,
 * and reports at which question it ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { ReadFailure } from '../../platform/reading/reading-ports.ts';
import { readUsage } from './process-usage.ts';
import type { Answer, Question } from './protocol.ts';

export interface ReadingLimits {
  /** Processor time that one question may take, in ms. */
  readonly timeoutMs: number;
  /** The memory that a process may use, in MiB; half of it is its JavaScript heap. */
  readonly memoryMb: number;
}

interface Asked {
  readonly question: Question;
  /** The question was asked elsewhere: this process's answer to it does not count. */
  isTakenBack: boolean;
}

/** How a process ended, and the questions it had not answered, in order. */
export interface ProcessEnd {
  readonly unanswered: readonly Question[];
  /** The process was working on the first of them. */
  readonly isFirstInHand: boolean;
  /** null: nothing shows that the first question was the cause. */
  readonly reason: ReadFailure | null;
  readonly detail: string;
}

export interface ReadingProcessEvents {
  onReady(process: ReadingProcess): void;
  onAnswer(process: ReadingProcess, question: Question, answer: Exclude<Answer, { kind: 'ready' }>): void;
  onEnd(process: ReadingProcess, end: ProcessEnd): void;
}

/**
 * Where the system does not show processor time, or a process waits for something else, the clock counts, with a limit that many times as
 * long: on a busy machine a mail that is easy to read may take as long.
 */
const CLOCK_FACTOR = 6;
/** Processor time after which a question is a slow one, in ms: nearly all mail takes less. */
const SLOW_CPU_MS = 100;
/** The same by the clock, where the system does not show processor time. */
const SLOW_CLOCK_MS = 1000;
/** A longer time between two checks is not the process's fault: this process, or the whole machine, stood still. */
const MAX_LOOK_MS = 250;
/** The last output that is kept of a process, in characters. */
const MAX_LAST_WORDS = 4000;
/** A process that grew to this part of its limit gets no more questions: it would be ended for earlier mail. */
const MAX_LEFT_BEHIND = 0.5;

const MIB = 1024 * 1024;

export class ReadingProcess {
  readonly #child: ChildProcess;
  readonly #limits: ReadingLimits;
  /** The first one is the question in hand. */
  readonly #asked: Asked[] = [];
  #isReady = false;
  #isEnded = false;
  #isRetired = false;
  #killedFor: ReadFailure | null = null;
  #lastWords = '';
  /** How long the first question has been watched, in ms. */
  #watchedMs = 0;
  /** Processor time when the first question was first checked. */
  #cpuMsBefore: number | null = null;
  #isSlow = false;
  #residentBytes = 0;
  /** On the clock of `performance.now()`. */
  idleSince = performance.now();

  constructor(
    program: string,
    limits: ReadingLimits & { readonly niceness: number },
    events: ReadingProcessEvents,
  ) {
    this.#limits = limits;
    this.#child = fork(program, [String(limits.niceness)], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${Math.ceil(limits.memoryMb / 2)}`],
      // No settings or secrets of the service.
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-MAX_LAST_WORDS);
    });
    this.#child.on('message', (answer: Answer) => this.#hear(answer, events));
    const end = (how: string) => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      const [first] = this.#asked;
      events.onEnd(this, {
        unanswered: this.#asked
          .splice(0)
          .flatMap(({ question, isTakenBack }) => (isTakenBack ? [] : question)),
        isFirstInHand: first?.isTakenBack === false,
        reason: this.#reason(),
        detail: this.#describe(how),
      });
    };
    this.#child.on('error', (error) => {
      // A message that could not be sent, too: if the process did not end, nothing would follow.
      this.#child.kill('SIGKILL');
      if (this.#child.pid === undefined) end(error.message);
    });
    // When its pipes are closed as well: its last output has arrived.
    this.#child.on('close', (code, signal) => end(`ended with ${signal ?? code}`));
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Questions not answered yet, including those that were taken back. */
  get load(): number {
    return this.#asked.length;
  }

  /** True when one question has taken longer than nearly all mail takes. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  get takesQuestions(): boolean {
    return this.#isReady && !this.#isEnded && !this.#isRetired && this.#killedFor === null;
  }

  ask(question: Question): void {
    this.#asked.push({ question, isTakenBack: false });
    if (this.#asked.length === 1) this.#begin();
    // A process that is gone does not receive it; `close` reports its end.
    this.#child.send(question, () => undefined);
  }

  /** Returns the questions behind the one in hand, to be asked elsewhere. */
  takeBack(): readonly Question[] {
    const behind = this.#asked.slice(1).filter(({ isTakenBack }) => !isTakenBack);
    for (const asked of behind) asked.isTakenBack = true;
    return behind.map(({ question }) => question);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Call it repeatedly while the process has questions. */
  look(sinceLastMs: number): void {
    const [first] = this.#asked;
    if (first === undefined || this.#killedFor !== null) return;
    const usage = this.#child.pid === undefined ? null : readUsage(this.#child.pid);
    this.#watchedMs += Math.min(sinceLastMs, MAX_LOOK_MS);
    // From the first check on: the question may have begun at any time since the previous one.
    const usedMs = usage === null ? null : usage.cpuMs - (this.#cpuMsBefore ??= usage.cpuMs);
    this.#isSlow = usedMs === null ? this.#watchedMs > SLOW_CLOCK_MS : usedMs > SLOW_CPU_MS;
    // No caller waits for the answer.
    if (this.#isSlow && first.isTakenBack) return this.kill();
    this.#residentBytes = usage?.residentBytes ?? 0;
    if (this.#residentBytes > this.#limits.memoryMb * MIB) return this.#killFor('memory');
    const { timeoutMs } = this.#limits;
    if ((usedMs ?? 0) > timeoutMs || this.#watchedMs > timeoutMs * CLOCK_FACTOR) this.#killFor('deadline');
  }

  #killFor(reason: ReadFailure): void {
    this.#killedFor = reason;
    this.kill();
  }

  #begin(): void {
    this.#isSlow = false;
    this.#watchedMs = 0;
    this.#cpuMsBefore = null;
  }

  #hear(answer: Answer, events: ReadingProcessEvents): void {
    if (answer.kind === 'ready') {
      this.#isReady = true;
      events.onReady(this);
      return;
    }
    const first = this.#asked.shift();
    if (first === undefined) return;
    this.#begin();
    this.idleSince = performance.now();
    if (this.#residentBytes > this.#limits.memoryMb * MIB * MAX_LEFT_BEHIND) this.#isRetired = true;
    if (this.#isRetired && this.#asked.length === 0) this.kill();
    if (!first.isTakenBack) events.onAnswer(this, first.question, answer);
  }

  #reason(): ReadFailure | null {
    if (this.#killedFor !== null) return this.#killedFor;
    // V8 writes this before it ends the process.
    return /heap out of memory|Allocation failed/.test(this.#lastWords) ? 'memory' : null;
  }

  #describe(how: string): string {
    const words =
      this.#lastWords.split('\n').find((line) => line.startsWith('FATAL ERROR')) ?? this.#lastWords;
    return [this.#killedFor === null ? how : `ended for its ${this.#killedFor}`, words.trim()]
      .filter((text) => text !== '')
      .join(': ');
  }
}
