/**
 * One reading process, from outside: asks it, watches what it uses for the question in hand, ends it when that is too
 * much, and says at which question it ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { ReadFailure } from '../../app/reading/reading-ports.ts';
import { readUsage } from './process-usage.ts';
import type { Answer, Question } from './protocol.ts';

export interface ReadingLimits {
  /** Processor time that one question may take, in ms. */
  readonly timeoutMs: number;
  /** What a process may hold in memory, in MiB; its JavaScript heap half of it. */
  readonly memoryMb: number;
}

interface Asked {
  readonly question: Question;
  /** It is asked elsewhere: what this process says to it does not count. */
  isTakenBack: boolean;
}

/** How a process ended, and what it had not answered, in order. */
export interface ProcessEnd {
  readonly unanswered: readonly Question[];
  /** The process was at the first of them. */
  readonly isFirstInHand: boolean;
  /** null: nothing says that the first question was the cause. */
  readonly reason: ReadFailure | null;
  readonly detail: string;
}

export interface ReadingProcessEvents {
  onReady(process: ReadingProcess): void;
  onAnswer(process: ReadingProcess, question: Question, answer: Exclude<Answer, { kind: 'ready' }>): void;
  onEnd(process: ReadingProcess, end: ProcessEnd): void;
}

/**
 * Where processor time is not told, or a process waits for something else, the clock counts, so many times as long: on a
 * busy machine a mail that is easy to read may take as long.
 */
const CLOCK_FACTOR = 6;
/** Processor time after which a question is a slow one, in ms: nearly all mail takes less. */
const SLOW_CPU_MS = 100;
/** The same by the clock, where processor time is not told. */
const SLOW_CLOCK_MS = 1000;
/** A longer time between two looks is not the process's: this one, or the whole machine, stood still. */
const MAX_LOOK_MS = 250;
/** Of what the process wrote before it ended, in characters. */
const MAX_LAST_WORDS = 4000;
/** A process that grew to such a part of its limit is not asked again: it would be ended for mail before. */
const MAX_LEFT_BEHIND = 0.5;

const MIB = 1024 * 1024;

export class ReadingProcess {
  readonly #child: ChildProcess;
  readonly #limits: ReadingLimits;
  /** The first one is what the process is at. */
  readonly #asked: Asked[] = [];
  #isReady = false;
  #isEnded = false;
  #isRetired = false;
  #killedFor: ReadFailure | null = null;
  #lastWords = '';
  /** How long the first question has been watched, in ms. */
  #watchedMs = 0;
  /** Processor time at the first look at it. */
  #cpuMsBefore: number | null = null;
  #isSlow = false;
  #residentBytes = 0;
  /** By `performance.now()`. */
  idleSince = performance.now();

  constructor(program: string, limits: ReadingLimits, events: ReadingProcessEvents) {
    this.#limits = limits;
    this.#child = fork(program, [], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${Math.ceil(limits.memoryMb / 2)}`],
      // Nothing of the service's settings and secrets.
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
      // A message that could not be sent, too: without an end of the process nothing would follow.
      this.#child.kill('SIGKILL');
      if (this.#child.pid === undefined) end(error.message);
    });
    // When its pipes are closed as well: its last words have come.
    this.#child.on('close', (code, signal) => end(`ended with ${signal ?? code}`));
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Questions not answered yet, also those that were taken back. */
  get load(): number {
    return this.#asked.length;
  }

  /** It has been at one question for longer than nearly all mail takes. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  get takesQuestions(): boolean {
    return this.#isReady && !this.#isEnded && !this.#isRetired && this.#killedFor === null;
  }

  ask(question: Question): void {
    this.#asked.push({ question, isTakenBack: false });
    if (this.#asked.length === 1) this.#begin();
    // A process that is gone does not take it; its end says so.
    this.#child.send(question, () => undefined);
  }

  /** Questions behind the one in hand are to be asked elsewhere. */
  takeBack(): readonly Question[] {
    const behind = this.#asked.slice(1).filter(({ isTakenBack }) => !isTakenBack);
    for (const asked of behind) asked.isTakenBack = true;
    return behind.map(({ question }) => question);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** To be called again and again while it is at something. */
  look(sinceLastMs: number): void {
    const [first] = this.#asked;
    if (first === undefined || this.#killedFor !== null) return;
    const usage = this.#child.pid === undefined ? null : readUsage(this.#child.pid);
    this.#watchedMs += Math.min(sinceLastMs, MAX_LOOK_MS);
    // From the first look on: it may have begun at any time since the last one.
    const usedMs = usage === null ? null : usage.cpuMs - (this.#cpuMsBefore ??= usage.cpuMs);
    this.#isSlow = usedMs === null ? this.#watchedMs > SLOW_CLOCK_MS : usedMs > SLOW_CPU_MS;
    // No caller waits for its answer.
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
    // What V8 says before it ends the process.
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
