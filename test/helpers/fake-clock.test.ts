import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { createExternalPostgres, skipWithoutExternalPostgres } from './external-postgres.ts';
import { createFakeClock, skipWithoutFakeClock } from './fake-clock.ts';
import { query } from './query.ts';

const DAY_MS = 86_400_000;
const inDays = (ms: number) => Math.round((ms - Date.now()) / DAY_MS);

describe.skipIf(skipWithoutFakeClock())('a fake clock', () => {
  it('is that of a process, while it runs, and leaves its timers alone', async () => {
    const clock = await createFakeClock(40 * DAY_MS);
    const program = `process.stdin.on('data', () => console.log(Date.now(), Math.floor(performance.now())))`;
    const child = spawn(process.execPath, ['-e', program], {
      env: { ...process.env, ...clock.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async () => {
      child.stdin.write('?');
      const line = (await lines.next()).value ?? '';
      return line.split(' ').map(Number) as [number, number];
    };
    try {
      const [ahead, before] = await ask();
      await clock.shift(-3 * DAY_MS);
      const [behind, after] = await ask();
      expect([inDays(ahead), inDays(behind)]).toEqual([40, -3]);
      expect(after).toBeGreaterThanOrEqual(before);
      expect(after).toBeLessThan(DAY_MS);
    } finally {
      child.stdin.end();
      await once(child, 'close');
      await clock.remove();
    }
  });

  it.skipIf(skipWithoutExternalPostgres())('is that of a database server', async () => {
    const clock = await createFakeClock();
    const postgres = await createExternalPostgres({ env: clock.env });
    const read = async () => {
      const [row] = await query(postgres.url, 'select extract(epoch from now())::float8 * 1000 as now');
      return inDays(Number(row?.['now']));
    };
    try {
      expect(await read()).toBeCloseTo(0);
      await clock.shift(40 * DAY_MS);
      expect(await read()).toBe(40);
    } finally {
      await postgres.dispose();
      await clock.remove();
    }
  });
});
