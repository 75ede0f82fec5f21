import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectCpuGrowthBelow } from '../../../../test/readers/cpu-time.ts';
import { ServiceError } from '../../../core/errors.ts';
import { parseJson } from './parse-json.ts';
import { runs } from '../../../../test/helpers/runs.ts';

/** A JSON text, and whether one of its objects names a field twice: known from its construction. */
interface Made {
  readonly text: string;
  readonly duplicate: boolean;
}

const blank = fc.constantFrom('', '', ' ', '\r\n\t');
const literals = fc
  .tuple(fc.constantFrom('a', 'b', '__proto__', '', '"', '\\', ':', '{', 'é'), fc.boolean())
  .map(([name, escaped]) => ({
    name,
    text: escaped
      ? `"${[...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(name),
  }));

const { json } = fc.letrec<{ json: Made }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc
      .oneof(
        literals.map(({ text }) => text),
        fc.constantFrom('1', 'null', 'true', '-1.5e3'),
      )
      .map((text) => ({
        text,
        duplicate: false,
      })),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(',')}]`,
      duplicate: items.some(({ duplicate }) => duplicate),
    })),
    fc.array(fc.tuple(literals, blank, blank, tie('json')), { maxLength: 4 }).map((fields) => ({
      text: `{${fields.map(([name, a, b, value]) => `${a}${name.text}${b}:${a}${value.text}${b}`).join(',')}}`,
      duplicate:
        new Set(fields.map(([{ name }]) => name)).size < fields.length ||
        fields.some(([, , , { duplicate }]) => duplicate),
    })),
  ),
}));

function codeOf(text: string): string {
  try {
    return JSON.stringify(parseJson(text));
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('parseJson', () => {
  it('refuses exactly the objects that name a field twice, and reads the others as JSON.parse does', () => {
    fc.assert(
      fc.property(json, ({ text, duplicate }) => {
        expect(codeOf(text)).toBe(duplicate ? 'duplicate_field' : JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: runs(5000) },
    );
  });

  it('refuses any text that JSON.parse refuses', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', ' ') }),
        (text) => {
          fc.pre(!isJson(text));
          expect(codeOf(text)).toBe('invalid_json');
        },
      ),
    );
  });

  it('names the field', () => {
    expect(() => parseJson('{"to":"a","\\u0074o":"b"}')).toThrow(
      expect.objectContaining({ code: 'duplicate_field', text: 'Das Feld to ist mehrfach angegeben.' }),
    );
  });

  it.each([
    ['backslashes', (n: number) => JSON.stringify('\\'.repeat(n))],
    ['quotes', (n: number) => JSON.stringify('"'.repeat(n))],
    ['nesting', (n: number) => '['.repeat(n / 10) + ']'.repeat(n / 10)],
    ['white space before colons', (n: number) => `{${'"a"'.padEnd(n)}:1}`],
    ['white space behind strings', (n: number) => `[${'"a"'.padEnd(n)}]`],
  ])('takes time in proportion to the text: %s', (_name, make) => {
    const parse = (text: string) => {
      for (let turn = 0; turn < 5; turn++) parseJson(text);
    };
    // In quadratic time, twice the text would take four times as long, and eight times the text 64 times as long.
    expectCpuGrowthBelow(30, parse, make(100_000), make(800_000), 2);
  });
});
