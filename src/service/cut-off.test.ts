/** In which order a stop cuts off what hangs. */
import { expect, it } from 'vitest';
import { createManualTimers } from '../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { createCutOff } from './cut-off.ts';

const SHUTDOWN_MS = 8_000;

function createWatched() {
  const timers = createManualTimers();
  const cutOff = createCutOff({ shutdownTimeoutMs: SHUTDOWN_MS }, silentLogger, timers);
  const cut: string[] = [];
  cutOff.add({ abort: () => cut.push('mail servers') });
  cutOff.database.addEventListener('abort', () => cut.push('database'));
  return { timers, cutOff, cut };
}

it('cuts off everything at once while nothing can be under way, and what is opened later as well', () => {
  const { cutOff, cut } = createWatched();
  cutOff.plan();
  expect(cut).toEqual(['mail servers', 'database']);
  cutOff.add({ abort: () => cut.push('storage') });
  expect(cut).toEqual(['mail servers', 'database', 'storage']);
});

it('gives work its time, then what was cut off time to be recorded, and callers time for their answers', async () => {
  const { timers, cutOff, cut } = createWatched();
  cutOff.workBegins();
  cutOff.plan();
  const by = cutOff.stopBy();
  await timers.advance(5_999);
  expect(cut).toEqual([]);
  await timers.advance(1);
  expect(cut).toEqual(['mail servers']);
  await timers.advance(1_000);
  expect(cut).toEqual(['mail servers', 'database']);
  expect(cutOff.hangUpAt() - timers.now()).toBe(500);
  expect(by - timers.now()).toBe(1_000);
});

it('cuts off nothing once everything has ended', async () => {
  const { timers, cutOff, cut } = createWatched();
  cutOff.workBegins();
  cutOff.plan();
  cutOff.cancel();
  await timers.advance(SHUTDOWN_MS);
  expect(cut).toEqual([]);
});
