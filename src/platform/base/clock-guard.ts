/**
 * Compares the clock of this process with the database's, which decides what is due, expires or is deleted. While the two differ by more
 * than a minute, or the database's own clock is in doubt, nothing irreversible happens here. The difference is measured every half minute,
 * and once more right before each irreversible act; what the send queue does can't wait for that, and happens when it is certain to be due.
 */
import { ServiceError } from '../../core/errors.ts';
import type { Clock, Logger } from './basics.ts';
import { LONGEST_LEASE_MS } from './leases.ts';

/** Our choice: clocks that are kept by NTP differ by milliseconds. */
export const MAX_SKEW_MS = 60_000;

/** The database's clock stepped forward: by more than a day, or ahead of a process that ran meanwhile. */
export interface ClockJump {
  /** What it should show, by the time in which processes looked at it since. */
  readonly expectedAt: Date;
  readonly jumpedAt: Date;
  /** The time since then in which processes looked; when it is as long as the step, or a day, the new time is trusted. */
  readonly lastedMs: number;
}

export interface DatabaseTime {
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
  /** null: the clock is not in doubt. */
  readonly jump: ClockJump | null;
}

/** What a process knows of the time without the database. */
export interface ClockWitness {
  /** What the database's clock should show, by the last look and the steady clock; null at the first look. */
  readonly steadyAt: Date | null;
  /** The clock of this machine; null: it has not gone evenly since the last look, or this is the first. */
  readonly machineAt: Date | null;
}

/**
 * The latest moment that is certain to have come: by the database's clock as it was last measured and continued by the steady clock, by
 * the clock of this machine, and by the clock that the database's should be. A minute more, in which clocks may differ.
 */
export type CertainUntil = () => Date;

/** All throw `ServiceError('database_unavailable')`. */
export interface DatabaseClock {
  /** Also has the database remember the moment, and doubt its clock when that went ahead of the witness. */
  look(witness: ClockWitness): Promise<DatabaseTime>;
  /** Leases that end later than any can were computed before the clock went back: each becomes one of `longestMs` from now. */
  shortenLeases(longestMs: number): Promise<void>;
  /** The operator is certain that the time is right. */
  trust(keyId: string | null): Promise<void>;
  /** Writes the event. */
  noteSkew(skew: {
    readonly isSkewed: boolean;
    readonly offsetMs: number;
    readonly instanceId: string;
  }): Promise<void>;
}

export type ClockFault = 'clock_skewed' | 'clock_in_doubt';

/** Throws `clock_skewed`, `clock_in_doubt` and `database_unavailable`: nothing irreversible may happen now. */
export type RequireTime = () => Promise<void>;

export interface ClockState {
  /** By how much the clock of this process is ahead of the database's, in ms. */
  readonly offsetMs: number;
  /** The measurement is off by half of that, at most. */
  readonly roundTripMs: number;
  /** Certain to differ by more than a minute. */
  readonly isSkewed: boolean;
  readonly databaseAt: Date;
  readonly jump: ClockJump | null;
}

export interface ClockGuardPorts {
  readonly database: DatabaseClock;
  readonly instanceId: string;
  /** The clock of this machine, in ms since 1970. */
  readonly wall: () => number;
  /** In ms; never goes back. */
  readonly now: () => number;
  /** In ms; never goes back, and counts the time in which the machine was suspended. */
  readonly uptime: () => number;
  readonly logger: Logger;
}

export class ClockGuard {
  readonly #ports: ClockGuardPorts;
  /** A moment by the database's clock, and when that was by `now`. */
  #anchor: { readonly at: number; readonly now: number };
  #state: ClockState | null = null;
  /** The last look: by the database's clock, this machine's, and `uptime`. */
  #last: { readonly at: number; readonly wall: number; readonly uptime: number } | null = null;
  #toldSkew = false;
  #toldJump = false;

  constructor(ports: ClockGuardPorts) {
    this.#ports = ports;
    this.#anchor = { at: ports.wall(), now: ports.now() };
  }

  /** The time by the database's clock, as far as this process knows it; of its own clock before the first measurement. */
  readonly clock: Clock = () => new Date(this.#anchor.at + this.#ports.now() - this.#anchor.now);

  readonly certainUntil: CertainUntil = () => {
    const { wall, now } = this.#ports;
    const { state } = this;
    const expected =
      state === null || state.jump === null
        ? Infinity
        : state.jump.expectedAt.getTime() + now() - this.#anchor.now;
    return new Date(Math.min(this.clock().getTime(), wall(), expected) + MAX_SKEW_MS);
  };

  /** Of the last measurement; null before the first. */
  get state(): ClockState | null {
    return this.#state;
  }

  /** Throws `database_unavailable`. */
  async measure(): Promise<ClockState> {
    const first = await this.#look();
    // A process that was suspended finds its clock ahead of what it last knew: a change counts when it is measured twice.
    const state = first.isSkewed === this.#toldSkew ? first : await this.#look();
    this.#state = state;
    await this.#tell(state);
    return state;
  }

  /**
   * After the database's clock went back: what a process had in hand that died does not wait for as long as the clock went back. An owner that
   * lives loses nothing by it: no lease ends before its own steady clock, which measures from when the lease was asked for, has ended it. Throws
   * `database_unavailable`.
   */
  async shortenLeases(): Promise<void> {
    await this.#ports.database.shortenLeases(LONGEST_LEASE_MS);
  }

  /** Confirms the database's clock after a jump. Throws `database_unavailable`. */
  /** The time of the database is right after a jump. A repeat changes nothing. @param keyId the key that acts; null: none */
  async trust(keyId: string | null): Promise<ClockState> {
    await this.#ports.database.trust(keyId);
    return await this.measure();
  }

  /** null: irreversible acts may happen now. Throws `database_unavailable`. */
  async check(): Promise<ClockFault | null> {
    const { offsetMs, roundTripMs, jump } = await this.measure();
    if (Math.abs(offsetMs) + roundTripMs / 2 > MAX_SKEW_MS) return 'clock_skewed';
    return jump === null ? null : 'clock_in_doubt';
  }

  readonly require: RequireTime = async () => {
    const fault = await this.check();
    if (fault !== null) throw new ServiceError(fault);
  };

  async #look(): Promise<ClockState> {
    const { database, wall, now, uptime } = this.#ports;
    const askedAt = now();
    const asked = { wall: wall(), uptime: uptime() };
    const { at, jump } = await database.look(this.#witness(asked));
    const answeredAt = now();
    this.#last = { ...asked, at };
    const roundTripMs = answeredAt - askedAt;
    const databaseAt = at + roundTripMs / 2;
    const offsetMs = wall() - databaseAt;
    const limitMs = this.#toldSkew ? MAX_SKEW_MS - CALM_MS : MAX_SKEW_MS;
    const isSkewed = Math.abs(offsetMs) - roundTripMs / 2 > limitMs;
    // Where the clocks agree, this machine's own is the finer one: the measurement is as coarse as the round trip.
    const isClose = Math.abs(offsetMs) <= roundTripMs / 2 + CLOSE_MS;
    this.#anchor = { at: isClose ? databaseAt + offsetMs : databaseAt, now: answeredAt };
    return { offsetMs, roundTripMs, isSkewed, databaseAt: new Date(databaseAt), jump };
  }

  #witness(asked: { readonly wall: number; readonly uptime: number }): ClockWitness {
    if (this.#last === null) return { steadyAt: null, machineAt: null };
    const { at, wall, uptime } = this.#last;
    const passedMs = asked.uptime - uptime;
    const isEven = Math.abs(asked.wall - wall - passedMs) < MAX_SKEW_MS;
    return { steadyAt: new Date(at + passedMs), machineAt: isEven ? new Date(asked.wall) : null };
  }

  /** Once for each change. A change whose event could not be written is told again. */
  async #tell(state: ClockState): Promise<void> {
    const { database, instanceId, logger } = this.#ports;
    const { isSkewed, offsetMs, databaseAt, jump } = state;
    if (isSkewed !== this.#toldSkew) {
      this.#toldSkew = isSkewed;
      const fields = {
        offsetSeconds: Math.round(offsetMs / 1000),
        processClock: new Date(databaseAt.getTime() + offsetMs).toISOString(),
        databaseClock: databaseAt.toISOString(),
      };
      if (isSkewed)
        logger.error(
          fields,
          'the clocks of this process and of the database differ by more than a minute: nothing is deleted until one of them is corrected',
        );
      else logger.info(fields, 'the clocks of this process and of the database agree again');
      try {
        await database.noteSkew({ isSkewed, offsetMs, instanceId });
      } catch (error) {
        this.#toldSkew = !isSkewed;
        throw error;
      }
    }
    if ((jump !== null) === this.#toldJump) return;
    this.#toldJump = jump !== null;
    if (jump === null)
      logger.info({ databaseClock: databaseAt.toISOString() }, 'the clock of the database is trusted again');
    else
      logger.error(
        { ...jump, databaseClock: databaseAt.toISOString() },
        'the clock of the database stepped forward: nothing is deleted, and no send goes out before its time by the former clock, until an operator confirms the time (email-worker clock --confirm), or it has lasted as long as the step, at most a day',
      );
  }
}

/** A difference near the limit must not change the state with every measurement. */
const CALM_MS = 5000;
/** Clocks of servers that are kept by NTP agree to this many ms. */
const CLOSE_MS = 250;
