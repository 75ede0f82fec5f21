import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import { ClockGuard, type ClockJump, type ClockWitness } from './clock-guard.ts';

const START = Date.parse('2026-03-01T12:00:00Z');

/** A process and a database whose clocks a test sets. */
function world() {
  const state = {
    /** By how much the clock of the process is ahead, in ms. */
    offsetMs: 0,
    roundTripMs: 2,
    /** Called between a question to the database and its answer. */
    meanwhile: () => {},
    jump: null as ClockJump | null,
    isAway: false,
    /** By how much the clock of the database is ahead, in ms. */
    databaseMs: 0,
    suspendedMs: 0,
  };
  let steady = 0;
  const witnesses: ClockWitness[] = [];
  const events: { isSkewed: boolean; offsetMs: number }[] = [];
  const requireDatabase = () => {
    if (state.isAway) throw new ServiceError('database_unavailable');
  };
  const guard = new ClockGuard({
    instanceId: 'one',
    wall: () => START + steady + state.offsetMs,
    now: () => steady,
    uptime: () => steady + state.suspendedMs,
    logger: silentLogger,
    database: {
      async look(witness) {
        witnesses.push(witness);
        steady += state.roundTripMs / 2;
        const at = START + steady + state.databaseMs;
        state.meanwhile();
        steady += state.roundTripMs / 2;
        return { at, jump: state.jump };
      },
      async trust() {
        state.jump = null;
      },
      async shortenLeases() {},
      async noteSkew({ isSkewed, offsetMs }) {
        requireDatabase();
        events.push({ isSkewed, offsetMs: Math.round(offsetMs) });
      },
    },
  });
  return { guard, state, events, witnesses, pass: (ms: number) => (steady += ms), now: () => START + steady };
}

describe('the guard of clocks', () => {
  it('refuses irreversible acts while the clocks differ by more than a minute, whichever is ahead', async () => {
    const { guard, state } = world();
    await guard.require();
    for (const offsetMs of [61_000, -61_000, 40 * 86_400_000]) {
      state.offsetMs = offsetMs;
      await expect(guard.require()).rejects.toMatchObject({ code: 'clock_skewed' });
    }
    state.offsetMs = -59_000;
    await guard.require();
    state.jump = { expectedAt: new Date(START), jumpedAt: new Date(START), lastedMs: 0 };
    await expect(guard.require()).rejects.toMatchObject({ code: 'clock_in_doubt' });
  });

  it('measures anew before each act, so that a clock that jumped since is found', async () => {
    const { guard, state } = world();
    await guard.measure();
    state.offsetMs = 3_600_000;
    expect(await guard.check()).toBe('clock_skewed');
  });

  it('allows nothing while the answers of the database take too long to compare clocks, and says nothing of them', async () => {
    const { guard, state, events } = world();
    state.roundTripMs = 300_000;
    state.offsetMs = 70_000;
    expect(await guard.check()).toBe('clock_skewed');
    expect(guard.state?.isSkewed).toBe(false);
    expect(events).toEqual([]);
  });

  it('tells each change once, and nothing of a single wrong measurement', async () => {
    const { guard, state, events } = world();
    state.offsetMs = 100_000;
    state.meanwhile = () => (state.offsetMs = 0);
    await guard.measure();
    expect(events).toEqual([]);
    state.meanwhile = () => {};
    state.offsetMs = 100_000;
    for (let round = 0; round < 3; round += 1) await guard.measure();
    // At the limit it does not change with every measurement.
    for (const offsetMs of [59_990, 60_010, 59_990]) {
      state.offsetMs = offsetMs;
      await guard.measure();
    }
    state.offsetMs = 0;
    for (let round = 0; round < 3; round += 1) await guard.measure();
    expect(events).toEqual([
      { isSkewed: true, offsetMs: 100_000 },
      { isSkewed: false, offsetMs: 0 },
    ]);
  });

  it('tells a change again whose event could not be written', async () => {
    const { guard, state, events } = world();
    state.offsetMs = 100_000;
    state.isAway = true;
    await expect(guard.measure()).rejects.toMatchObject({ code: 'database_unavailable' });
    state.isAway = false;
    await guard.measure();
    expect(events).toHaveLength(1);
  });

  it('gives the time of the database, whatever the clock of the process shows between two measurements', async () => {
    const { guard, state, pass, now } = world();
    state.offsetMs = 40 * 86_400_000;
    await guard.measure();
    pass(3000);
    expect(Math.abs(guard.clock().getTime() - now())).toBeLessThan(10);
    state.offsetMs = 0;
    expect(Math.abs(guard.clock().getTime() - now())).toBeLessThan(10);
  });

  it('is certain of no moment that only one of the clocks has reached, but for a minute', async () => {
    const { guard, state, pass, now } = world();
    const HOUR_MS = 3_600_000;
    const certainMs = () => Math.round((guard.certainUntil().getTime() - now()) / 1000) * 1000;
    await guard.measure();
    pass(20_000);
    expect(certainMs()).toBe(60_000);
    // The database's clock jumps: until it is measured, the steady clock goes on from before.
    state.databaseMs = 5 * HOUR_MS;
    expect(certainMs()).toBe(60_000);
    // It is measured, and the clock of this machine is another one.
    await guard.measure();
    expect(certainMs()).toBe(60_000);
    // Both have jumped, and the database remembers what it should show.
    state.offsetMs = 5 * HOUR_MS;
    state.jump = { expectedAt: new Date(now()), jumpedAt: new Date(now() + 5 * HOUR_MS), lastedMs: 0 };
    await guard.measure();
    pass(10_000);
    expect(certainMs()).toBe(60_000);
    state.jump = null;
    await guard.measure();
    expect(certainMs()).toBe(5 * HOUR_MS + 60_000);
    state.offsetMs = -HOUR_MS;
    expect(certainMs()).toBe(-HOUR_MS + 60_000);
  });

  it('bears witness of what the clock of the database should show, and of the clock of its machine only if that went evenly', async () => {
    const { guard, state, witnesses, pass } = world();
    const seconds = (at: Date | null) => at && Math.round((at.getTime() - START) / 1000);
    const last = () => witnesses.at(-1)!;
    await guard.measure();
    expect(last()).toEqual({ steadyAt: null, machineAt: null });
    pass(30_000);
    await guard.measure();
    expect([seconds(last().steadyAt), seconds(last().machineAt)]).toEqual([30, 30]);
    state.offsetMs = 3_600_000;
    state.databaseMs = 3_600_000;
    pass(30_000);
    await guard.measure();
    expect([seconds(last().steadyAt), last().machineAt]).toEqual([60, null]);
    // The machine was suspended: its clock and the database's went on.
    state.suspendedMs += 7_200_000;
    state.databaseMs += 7_200_000;
    state.offsetMs += 7_200_000;
    await guard.measure();
    expect([seconds(last().steadyAt), seconds(last().machineAt)]).toEqual([3660 + 7200, 3660 + 7200]);
  });
});
