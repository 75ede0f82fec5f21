import { expect, it } from 'vitest';
import { formatMetadata, parseTag, readTags } from './tags.ts';

it('takes words of any script for tags', () => {
  for (const tag of ['a', 'Käufer', 'order:17', '客户', 'a.b_c-d+e@f', '1']) expect(parseTag(tag)).toBe(tag);
  for (const text of ['', ' a', 'a b', '-a', 'a,b', 'a\n', 'a\u0000', 'x'.repeat(65), '\ud800']) {
    expect(parseTag(text)).toBeNull();
  }
});

it('keeps each tag once', () => {
  expect(readTags(['b', 'a', 'b'])).toEqual(['b', 'a']);
});

it('writes metadata on one line, as it was given', () => {
  const metadata = {
    text: 'a\nb "c" \\u0000 \\ud800 é 😀',
    list: [1, null, true],
    nested: { __proto__: null },
  };
  const json = formatMetadata(metadata);
  expect(json).not.toContain('\n');
  expect(JSON.parse(json!)).toEqual(metadata);
  expect(formatMetadata({})).toBeNull();
});

it.each(['\u0000', '\\\u0000', '\ud800', 'x\udc00'])('refuses metadata with %j', (text) => {
  expect(() => formatMetadata({ a: [text] })).toThrow(expect.objectContaining({ code: 'invalid_text' }));
  expect(() => formatMetadata({ [text]: 1 })).toThrow(expect.objectContaining({ code: 'invalid_text' }));
});
