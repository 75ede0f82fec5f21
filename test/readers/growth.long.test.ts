/**
 * The cost of hostile input, in CPU time: four times the input, about four times the work. Sizes grow as fast until the work can be measured, so
 * that a reader whose time grows with the square is found while the input is small.
 */
import { describe, expect, it } from 'vitest';
import { bestCpuMs, cpuMs } from './cpu-time.ts';
import { HOSTILE_SHAPES } from './hostile-shapes.ts';
import type { HostileShape } from './hostile-shapes.ts';
import { READERS } from './readers.ts';

const FIRST_BYTES = 8 * 1024;
/** Size of the large input, in small ones. With twice as much, the noise of a busy machine reached the limit. */
const FACTOR = 4;
/** `FACTOR` times as much is still a header within its limit: beyond it another code path would be measured. */
const LAST_BYTES = 128 * 1024;
/** Below this, the noise is as large as the measured time. */
const MEASURABLE_MS = 60;
/** 4 is linear, 16 is quadratic. */
const MAX_RATIO = 8;
/** CPU time of linear work. Nearly all readers take less than a tenth of it on an idle machine; a busy one has taken twice as long. */
const MAX_MS_PER_MEGABYTE = 3000;

describe('readers', () => {
  it.each(HOSTILE_SHAPES.map((shape) => [shape.reader, shape.name, shape] as const))(
    '%s: the work grows with the size only for %s',
    (_reader, _name, shape) => {
      const { bytes, ratio, msPerMegabyte } = measure(shape);
      expect({ bytes, isLinear: ratio <= MAX_RATIO, ratio }).toMatchObject({ isLinear: true });
      expect({ bytes, isCheap: msPerMegabyte <= MAX_MS_PER_MEGABYTE, msPerMegabyte }).toMatchObject({
        isCheap: true,
      });
    },
  );
});

interface Growth {
  readonly bytes: number;
  /** Cost ratio for `FACTOR` times as many bytes. */
  readonly ratio: number;
  readonly msPerMegabyte: number;
}

function measure(shape: HostileShape): Growth {
  const read = READERS[shape.reader];
  for (let bytes = FIRST_BYTES; ; bytes *= FACTOR) {
    const [small, large] = [shape.make(bytes), shape.make(FACTOR * bytes)];
    let largeMs = cpuMs(() => read(large));
    // Fixed costs dominate the time for a small input.
    if (bytes < LAST_BYTES && largeMs < 10 * MEASURABLE_MS) continue;
    // The first run compiles.
    let smallMs = bestCpuMs(2, () => read(small));
    const isSuspicious = (): boolean =>
      largeMs >= MEASURABLE_MS &&
      (largeMs / smallMs > MAX_RATIO || perMegabyte(largeMs, large) > MAX_MS_PER_MEGABYTE);
    // Measured again before it counts, but not for minutes.
    for (let run = 0; run < 10 && isSuspicious() && largeMs < 5000; run++) {
      largeMs = Math.min(
        largeMs,
        cpuMs(() => read(large)),
      );
      smallMs = Math.min(
        smallMs,
        bestCpuMs(2, () => read(small)),
      );
    }
    const ratio = largeMs < MEASURABLE_MS ? 1 : largeMs / smallMs;
    return { bytes, ratio, msPerMegabyte: perMegabyte(largeMs, large) };
  }
}

function perMegabyte(ms: number, { length }: Buffer): number {
  return ms / (length / 1_000_000);
}
