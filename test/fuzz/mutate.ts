/** Damages mails, from a seed: the same seed gives the same mail. */
import { damageLines } from './damage-lines.ts';
import { HOSTILE_SHAPES } from '../readers/hostile-shapes.ts';

/** Numbers from 0 to below 1; mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The size limit of a mail, in bytes; most are much smaller. */
export const MAX_BYTES = 1_000_000;

/** Tokens that readers look for. */
const TOKENS = [
  ...'\r\n|\n|\r|\0| |\t|:|;|,|=|"|\'|\\|(|)|<|>|[|]|@|--|--b|--b--|=?utf-8?q?|=?utf-8?b?|?=|=\r\n|=3D|%00|&amp;|&#x'.split(
    '|',
  ),
  ...'<div>|<blockquote>|<ol><li>|<pre>|<table><tr><td>|<a href="|<style>|<!--|-->|From |>From |> |-- |On 1 wrote:'.split(
    '|',
  ),
  ...'Content-Type: |Content-Transfer-Encoding: base64|multipart/mixed; boundary=b|message/rfc822|charset=|filename*='.split(
    '|',
  ),
  ...'To: |Subject: |References: <a@b>|Final-Recipient: rfc822; a@b|Status: 5.1.1|user unknown|İ|\u001b$B|\ud83d\ude00'.split(
    '|',
  ),
].map((token) => Buffer.from(token));

/** One of `mails`, or a hostile shape, or both, changed in a few places. */
export function mutate(mails: readonly Buffer[], random: () => number): Buffer {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  let bytes = random() < 0.15 ? hostile(random) : pick(mails);
  for (let left = 1 + Math.floor(random() * 8); left > 0; left--) {
    if (random() < 0.4) {
      bytes = damageLines(bytes, mails, random);
      continue;
    }
    const at = Math.floor(random() * (bytes.length + 1));
    const end = Math.min(bytes.length, at + Math.floor(random() ** 4 * 2000));
    bytes = splice(bytes, at, end, change(bytes.subarray(at, end), mails, random, pick));
  }
  return bytes.subarray(0, MAX_BYTES);
}

function change(
  cut: Buffer,
  mails: readonly Buffer[],
  random: () => number,
  pick: <T>(items: readonly T[]) => T,
): Buffer {
  const kind = random();
  if (kind < 0.1) return Buffer.alloc(0);
  if (kind < 0.3) return pick(TOKENS);
  if (kind < 0.4)
    return repeat(random() < 0.5 ? pick(TOKENS) : Buffer.concat([pick(TOKENS), pick(TOKENS)]), random);
  if (kind < 0.5) return repeat(cut, random);
  if (kind < 0.6)
    return Buffer.from(
      Array.from({ length: 1 + Math.floor(random() * 8) }, () => Math.floor(random() * 256)),
    );
  if (kind < 0.7) return hostile(random);
  if (kind < 0.8)
    return Buffer.from(cut.map((byte) => (random() < 0.05 ? byte ^ (1 << Math.floor(random() * 8)) : byte)));
  const other = pick(mails);
  const at = Math.floor(random() * other.length);
  return Buffer.concat([cut, other.subarray(at, at + Math.floor(random() ** 2 * 20_000))]);
}

function hostile(random: () => number): Buffer {
  const shape = HOSTILE_SHAPES[Math.floor(random() * HOSTILE_SHAPES.length)];
  return shape?.make(Math.ceil(random() ** 6 * 200_000)) ?? Buffer.alloc(0);
}

function repeat(unit: Buffer, random: () => number): Buffer {
  const bytes = Math.min(MAX_BYTES, Math.ceil(random() ** 5 * 300_000));
  return unit.length === 0 ? unit : Buffer.alloc(Math.max(bytes, unit.length), unit);
}

function splice(bytes: Buffer, start: number, end: number, put: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(end)]).subarray(0, MAX_BYTES);
}
