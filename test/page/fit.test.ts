/** How wide a mail is laid out in its frame. */
import { describe, expect, it } from 'vitest';
import { nextFit, scaleOf, type Fit } from '../../page/src/features/thread/fit.ts';

/** The scale at which a mail stays, whose width depends on that of its frame. */
function settled(place: number, widthIn: (frame: number) => number, from: Fit | null = null): number {
  let fit = from;
  for (let turn = 0; turn < 20; turn++) {
    const frame = fit === null || fit.state === 'fluid' ? place : fit.place / scaleOf(fit);
    const next = nextFit(fit, { place, frame, mail: Math.max(frame, widthIn(frame)) });
    if (next === fit) return scaleOf(fit);
    fit = next;
  }
  throw new Error('it never stays');
}

describe('a mail in its frame', () => {
  it('has its size where it has room', () => {
    expect(settled(400, () => 300)).toBe(1);
    expect(settled(400, (frame) => frame)).toBe(1);
  });

  it('is made smaller where its width is fixed, but not below half', () => {
    expect(settled(400, () => 600)).toBeCloseTo(2 / 3);
    expect(settled(400, () => 2000)).toBe(0.5);
  });

  it.each([
    ['a padding', (frame: number) => frame + 40],
    ['a width of 120 %', (frame: number) => frame * 1.2],
    ['a padding up to a largest width', (frame: number) => Math.min(frame, 600) + 20],
  ])('keeps its size where it grows with the frame by %s', (_, widthIn) => {
    expect(settled(400, widthIn)).toBe(1);
  });

  it('is made smaller by the fixed part of its width alone', () => {
    expect(settled(400, (frame) => Math.max(600, frame + 20))).toBeCloseTo(400 / 620);
    expect(settled(400, (frame) => Math.max(frame + 16, 632))).toBeCloseTo(400 / 648);
  });

  it('is made smaller once an image has loaded that is wider', () => {
    expect(settled(400, () => 800, { place: 400, mail: 500, excess: 0, state: 'stays' })).toBe(0.5);
    expect(settled(400, () => 800, { place: 400, mail: 420, excess: 20, state: 'fluid' })).toBe(0.5);
  });

  it('waits until the frame has its new width', () => {
    const now: Fit = { place: 400, mail: 600, excess: 200, state: 'first' };
    expect(nextFit(now, { place: 400, frame: 400, mail: 620 })).toBe(now);
  });

  it('has its size again when the window is wide enough', () => {
    expect(settled(800, () => 600, { place: 400, mail: 600, excess: 0, state: 'stays' })).toBe(1);
    expect(
      settled(800, (frame) => Math.min(frame, 600) + 20, {
        place: 400,
        mail: 420,
        excess: 20,
        state: 'fluid',
      }),
    ).toBe(1);
  });
});
