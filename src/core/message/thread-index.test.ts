import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_THREAD_INDEX_BYTES, nextThreadIndex, readThreadIndex } from './thread-index.ts';

const THREAD = '0199d3a4-5b1f-7a0c-b3d5-91c84e2f7a60';
const SENT = new Date('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;
const after = (ms: number) => new Date(SENT.getTime() + ms);
const next = (parent: string | null, date = SENT, random = 0x5a) =>
  nextThreadIndex({ parent, threadId: THREAD, date, random });
const hex = (index: string) => Buffer.from(index, 'base64').toString('hex');
const levelOf = (index: string) => hex(index).slice(-10);

describe('a new conversation ([MS-OXOMSG] §2.2.1.3)', () => {
  it('has 0x01, the upper 40 bits of the FILETIME, and a GUID', () => {
    // 2026-03-01T12:00:00Z is the FILETIME 0x01dca972ee152000
    expect(hex(next(null))).toMatch(/^0101dca972ee[0-9a-f]{32}$/);
  });

  it('has the GUID of its thread, whenever it is sent', () => {
    const guid = hex(next(null)).slice(12);
    expect(hex(next(null, after(DAY_MS))).slice(12)).toBe(guid);
    expect(
      hex(nextThreadIndex({ parent: null, threadId: 'other', date: SENT, random: 0 })).slice(12),
    ).not.toBe(guid);
    expect(guid).not.toContain(THREAD.replaceAll('-', '').slice(0, 12));
  });
});

describe('an answer', () => {
  const head = next(null);
  // The header has only the upper 40 bits of its time.
  const lost = 0x152000n;

  it.each([
    // Time since the header without its 18 lowest bits
    ['at once', 0, Number(lost >> 18n)],
    ['after a day', DAY_MS, Number((BigInt(DAY_MS) * 10_000n + lost) >> 18n)],
    // Without its 23 lowest bits, and the delta code
    ['after two years', 730 * DAY_MS, 0x8000_0000 + Number((BigInt(730 * DAY_MS) * 10_000n + lost) >> 23n)],
    ['after a century', 36_500 * DAY_MS, 0xffff_ffff],
  ])('%s has the index of its parent and the time since its header', (_name, ms, delta) => {
    const answer = next(head, after(ms));
    expect(hex(answer).slice(0, 44)).toBe(hex(head));
    expect(levelOf(answer)).toBe(`${delta.toString(16).padStart(8, '0')}5a`);
  });

  it('before its conversation, by a wrong clock, has no time', () => {
    expect(levelOf(next(head, after(-DAY_MS)))).toBe('000000005a');
  });

  it('continues what Outlook and Exchange write', () => {
    // Outlook: the uppermost byte of the time is the reserved one. Exchange has both.
    const guid = '4696a637e92446a36574d21f90b594b1';
    const times = ['01dca972ee15', '0101dca972ee'].map((time) => {
      const parent = Buffer.from(`${time}${guid}`, 'hex').toString('base64');
      return Number.parseInt(levelOf(next(parent, after(DAY_MS))).slice(0, 8), 16);
    });
    // They differ by what the second form leaves out: less than 2 s, in units of 26 ms.
    expect(Math.abs((times[0] ?? 0) - (times[1] ?? NaN))).toBeLessThan(64);
    expect(((times[0] ?? 0) * 2 ** 18) / 10_000 / DAY_MS).toBeCloseTo(1, 4);
  });

  it('to answers makes a chain of which each begins with the one before, and which ends', () => {
    const chain = [head];
    for (let round = 1; round <= 150; round += 1) {
      chain.push(next(chain.at(-1) ?? null, after(round * 3_600_000), round % 256));
    }
    for (let round = 1; round <= 100; round += 1) {
      expect(hex(chain[round] ?? '')).toMatch(new RegExp(`^${hex(chain[round - 1] ?? '')}.{10}$`));
    }
    const longest = Math.max(...chain.map((index) => hex(index).length / 2));
    expect(longest).toBe(MAX_THREAD_INDEX_BYTES);
    for (const index of chain) expect(readThreadIndex(index)).toBe(index);
  });
});

describe('a received Thread-Index', () => {
  it.each([
    ['a folded one', `${next(null).slice(0, 10)} \t${next(null).slice(10)}`, next(null)],
    ['one whose last level is cut', hexToIndex(`${hex(next(next(null)))}0102`), next(next(null))],
    ['none', null, null],
    ['an empty one', '', null],
    ['no Base64', 'AQHa*cdef', null],
    ['a short one', 'AQHa', null],
    ['another first byte', hexToIndex(`02${hex(next(null)).slice(2)}`), null],
    ['an encoded word', '=?utf-8?B?AQHa?=', null],
    ['10 kB of garbage', '\u00ff'.repeat(10_000), null],
  ])('is read: %s', (_name, value, expected) => {
    expect(readThreadIndex(value)).toBe(expected);
  });

  it('is bounded', () => {
    const long = hexToIndex(hex(next(null)) + '00'.repeat(10_000));
    const read = readThreadIndex(long) ?? '';
    expect(hex(read).length / 2).toBe(MAX_THREAD_INDEX_BYTES);
    expect(hex(next(read)).length / 2).toBe(MAX_THREAD_INDEX_BYTES);
  });

  it('never throws, and gives what can be answered', () => {
    const text = fc.oneof(fc.string(), fc.base64String({ maxLength: 900 }), fc.uint8Array().map(toIndex));
    fc.assert(
      fc.property(text, fc.date({ noInvalidDate: true }), (value, date) => {
        const read = readThreadIndex(value);
        const answer = readThreadIndex(next(read, date));
        expect(answer).toBe(next(read, date));
      }),
    );
  });
});

function hexToIndex(text: string): string {
  return Buffer.from(text, 'hex').toString('base64');
}

function toIndex(tail: Uint8Array): string {
  return Buffer.concat([Buffer.from([1]), tail]).toString('base64');
}
