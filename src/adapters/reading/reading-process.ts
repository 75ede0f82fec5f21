/**
 * One reading process, from outside: asks it, watches what it uses for the question in hand, ends it when that is too
 * much, and says at which question it ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { ReadFailure } from '../../app/reading-ports.ts';
import { readUsage } from './process-usage.ts';
import type { Answer, Question } from './protocol.ts';

export interface ReadingLimits {
  /** Processor time that one question may take, in ms. */
  readonly timeoutMs: number;
  /** What a process may hold in memory, in MiB; its JavaScript heap half of it. */
  readonly memoryMb: number;
}

/** How a process ended, and what it had not answered, in order; the first is what it was at. */
export interface ProcessEnd {
  readonly unanswered: readonly Question[];
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
  readonly #asked: Question[] = [];
  #isReady = false;
  #isEnded = false;
  #isRetired = false;
  #killedFor: ReadFailure | null = null;
  #lastWords = '';
  /** How long the first question has been watched, in ms. */
  #watchedMs = 0;
  /** Processor time at the first look at it. */
  #cpuMsBefore: number | null = null;
  /** Looks at it. */
  #looks = 0;
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
      events.onEnd(this, {
        unanswered: this.#asked.splice(0),
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

  /** Questions not answered yet. */
  get load(): number {
    return this.#asked.length;
  }

  /** It has been at one question for longer than most mail takes. */
  get isSlow(): boolean {
    return this.#looks > 1;
  }

  get takesQuestions(): boolean {
    return this.#isReady && !this.#isEnded && !this.#isRetired && this.#killedFor === null;
  }

  ask(question: Question): void {
    this.#asked.push(question);
    if (this.#asked.length === 1) this.#begin();
    // A process that is gone does not take it; its end says so.
    this.#child.send(question, () => undefined);
  }

  /** Questions behind the one in hand are to be asked elsewhere; what this process says to them does not count. */
  takeBack(): readonly Question[] {
    const behind = this.#asked.splice(1);
    // It has got them, so it is of no use to others until it has come to their end.
    if (behind.length > 0) this.retire();
    return behind;
  }

  /** Ends when everything is answered. */
  retire(): void {
    this.#isRetired = true;
    if (this.#asked.length === 0) this.kill();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** To be called again and again while it is at something. */
  look(sinceLastMs: number): void {
    if (this.#asked.length === 0 || this.#killedFor !== null) return;
    this.#looks += 1;
    // It may have begun at any time since the last look.
    if (this.#looks === 1) return;
    this.#watchedMs += Math.min(sinceLastMs, MAX_LOOK_MS);
    const usage = this.#child.pid === undefined ? null : readUsage(this.#child.pid);
    if (usage !== null) {
      this.#cpuMsBefore ??= usage.cpuMs;
      this.#residentBytes = usage.residentBytes;
      if (usage.cpuMs - this.#cpuMsBefore > this.#limits.timeoutMs) return this.#killFor('deadline');
      if (usage.residentBytes > this.#limits.memoryMb * MIB) return this.#killFor('memory');
    }
    if (this.#watchedMs > this.#limits.timeoutMs * CLOCK_FACTOR) this.#killFor('deadline');
  }

  #killFor(reason: ReadFailure): void {
    this.#killedFor = reason;
    this.kill();
  }

  #begin(): void {
    this.#looks = 0;
    this.#watchedMs = 0;
    this.#cpuMsBefore = null;
  }

  #hear(answer: Answer, events: ReadingProcessEvents): void {
    if (answer.kind === 'ready') {
      this.#isReady = true;
      events.onReady(this);
      return;
    }
    const [question] = this.#asked;
    // One that was taken back.
    if (question?.id !== answer.id) return;
    this.#asked.shift();
    this.#begin();
    this.idleSince = performance.now();
    if (this.#residentBytes > this.#limits.memoryMb * MIB * MAX_LEFT_BEHIND) this.#isRetired = true;
    if (this.#isRetired && this.#asked.length === 0) this.kill();
    events.onAnswer(this, question, answer);
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
