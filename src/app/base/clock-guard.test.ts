import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import { ClockGuard, type ClockJump } from './clock-guard.ts';

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
  };
  let steady = 0;
  const events: { isSkewed: boolean; offsetMs: number }[] = [];
  const requireDatabase = () => {
    if (state.isAway) throw new ServiceError('database_unavailable');
  };
  const guard = new ClockGuard({
    instanceId: 'one',
    wall: () => START + steady + state.offsetMs,
    now: () => steady,
    logger: silentLogger,
    database: {
      async look() {
        steady += state.roundTripMs / 2;
        const at = START + steady;
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
  return { guard, state, events, pass: (ms: number) => (steady += ms), now: () => START + steady };
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
});
