import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EML_FIXTURES } from '../../../../test/helpers/eml-fixtures.ts';
import { unpackTnef } from './tnef.ts';
import { runs } from '../../../../test/helpers/runs.ts';

const mail = EML_FIXTURES.find(({ name }) => name === 'real/winmail')!.raw.toString('latin1');
const file = Buffer.from(/\r\n\r\n(eJ8[^-]+)/.exec(mail)![1]!, 'base64');

/** Corrects the checksums where the frame is intact, so that the content within is reached. */
function repair(bytes: Buffer): Buffer {
  const repaired = Buffer.from(bytes);
  for (let at = 6; at + 9 <= repaired.length;) {
    const start = at + 9;
    const end = start + repaired.readUInt32LE(at + 5);
    if (end + 2 > repaired.length) break;
    let sum = 0;
    for (const byte of repaired.subarray(start, end)) sum = (sum + byte) & 0xffff;
    repaired.writeUInt16LE(sum, end);
    at = end + 2;
  }
  return repaired;
}

describe('unpackTnef', () => {
  it('reads the sound file', () => {
    expect(unpackTnef(file)?.attachments.map(({ filename }) => filename)).toEqual(['Bericht März.pdf']);
    expect(unpackTnef(file)?.html).toBe('<p>Grüße</p>');
  });

  it('of any damage never throws', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(file.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
        fc.boolean(),
        fc.nat(file.length),
        (changes, repaired, length) => {
          const damaged = Buffer.from(file.subarray(0, repaired ? file.length : length));
          for (const [at, byte] of changes) if (at < damaged.length) damaged[at] = byte;
          const unpacked = unpackTnef(repaired ? repair(damaged) : damaged);
          expect(unpacked === null || Array.isArray(unpacked.attachments)).toBe(true);
        },
      ),
      { numRuns: runs(10_000) },
    );
  });
});
