/**
 * The loop that asks the database for work of the other loops, and wakes those that have something to do. One statement
 * for all of them: at most two each second while there is work, one every few seconds while there is none. Work that this
 * process wrote is found at once: `soon` brings the next look forward.
 */
import type { Logger } from '../../platform/base/basics.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import type { DueNow, DueWork } from './due-work.ts';
import type { Loop } from '../../platform/base/loop.ts';

/** The minimum between two looks, in ms: work that is written now is found within that time. */
const BUSY_MS = 500;

export type WorkKind =
  | 'sends'
  | 'search'
  | 'customers'
  | 'reports'
  | 'copies'
  | 'absences'
  | 'erasures'
  | 'removals'
  | 'deletedFiles'
  | 'sentCopies'
  | 'mailboxes'
  | 'rules'
  | 'suppressions'
  | 'webhooks'
  | 'accounts';

export interface WorkWatchOptions {
  /** The maximum between two looks, in ms: work that other processes left is found within that time. */
  readonly pollMs: number;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export class WorkWatch implements Loop {
  readonly #work: DueWork;
  readonly #pollMs: number;
  readonly #busyMs: number;
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #failures;
  readonly #wakes = new Map<WorkKind, () => void>();
  #cancelLook = () => {};
  #cancelSend = () => {};
  #look: Promise<void> | null = null;
  /** By `Timers.now`; null before the first look. */
  #lookedAt: number | null = null;
  #isAskedFor = false;
  #isStopped = false;
  #suppressionVersion = -1;
  #webhookVersion = -1;
  #accountVersion = -1;
  #feedPosition: number | null = null;
  /** The last look failed: work that appeared meanwhile is unknown. */
  #isBlind = false;

  constructor(work: DueWork, { pollMs, logger, timers = systemTimers }: WorkWatchOptions) {
    this.#work = work;
    this.#pollMs = pollMs;
    this.#busyMs = Math.min(BUSY_MS, pollMs);
    this.#timers = timers;
    this.#logger = logger;
    this.#failures = createFailureLog(logger, 'the database can not be asked for work; trying again');
  }

  /** `wake` is called whenever a look from now on finds work of that kind. */
  on(kind: WorkKind, wake: () => void): void {
    this.#wakes.set(kind, wake);
  }

  start(): void {
    this.#lookIn(0);
  }

  /** Something was written, so there may be work now. */
  readonly soon = (): void => {
    if (this.#isStopped || this.#isAskedFor || this.#lookedAt === null) return;
    this.#isAskedFor = true;
    if (this.#look === null) this.#lookIn(Math.max(0, this.#lookedAt + this.#busyMs - this.#timers.now()));
  };

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelLook();
    this.#cancelSend();
    await this.#look;
  }

  #lookIn(delayMs: number): void {
    this.#cancelLook();
    this.#cancelLook = this.#timers.after(delayMs, () => {
      this.#look = this.#lookOnce();
    });
  }

  async #lookOnce(): Promise<void> {
    this.#isAskedFor = false;
    this.#lookedAt = this.#timers.now();
    let isBusy = false;
    try {
      const due = await this.#work.find();
      if (this.#failures.worked()) this.#logger.info({}, 'the database answers again');
      if (!this.#isStopped) isBusy = this.#wakeFor(due);
    } catch (error) {
      this.#isBlind = true;
      this.#failures.failed(error);
    }
    this.#look = null;
    if (!this.#isStopped) this.#lookIn(isBusy || this.#isAskedFor ? this.#busyMs : this.#pollMs);
  }

  /** Returns true if it found work. */
  #wakeFor(due: DueNow): boolean {
    const { sendInMs, search, customers, reports, copies, absences, rules } = due;
    const { erasures, removals, deletedFiles, sentCopies, mailboxes } = due;
    const { suppressionVersion, webhookVersion, feedPosition, accountVersion } = due;
    const accounts = accountVersion !== this.#accountVersion;
    this.#accountVersion = accountVersion;
    const suppressions = suppressionVersion !== this.#suppressionVersion;
    this.#suppressionVersion = suppressionVersion;
    // Includes events that another process put into the feed.
    const webhooks =
      due.webhooks || webhookVersion !== this.#webhookVersion || feedPosition !== this.#feedPosition;
    this.#webhookVersion = webhookVersion;
    this.#feedPosition = feedPosition;
    const sends = sendInMs !== null && sendInMs <= 0;
    this.#cancelSend();
    // Exactly when it becomes due, if that is before the next look.
    if (sendInMs !== null && !sends && sendInMs <= this.#pollMs) {
      this.#cancelSend = this.#timers.after(Math.ceil(sendInMs), () => this.#wakes.get('sends')?.());
    }
    const ofRows = {
      search,
      customers,
      reports,
      copies,
      absences,
      rules,
      erasures,
      removals,
      deletedFiles,
      sentCopies,
      mailboxes,
    };
    const found = { ...ofRows, sends, suppressions, webhooks, accounts };
    const kinds = [...this.#wakes.keys()].filter((kind) => found[kind]);
    for (const kind of this.#isBlind ? this.#wakes.keys() : kinds) this.#wakes.get(kind)?.();
    this.#isBlind = false;
    return kinds.length > 0;
  }
}
