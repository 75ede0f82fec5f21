import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { invalidRequest, ServiceError } from './errors.ts';

const SOURCES = new URL('../', import.meta.url);

/** A word that only German has, in a text of some words. */
const GERMAN =
  /['`](?=[^'`]* )[^'`]*(?:[äöüÄÖÜß]|\b(?:muss|darf|ist|wurde|fehlt|keine?|nicht|kann|ein|eine|der|die|das)\b)[^'`]*['`]/;

/**
 * Core reads mail in German: its patterns are no answers. Examples quote what callers write. Quotes and the page of a recipient are in the
 * language of their reader, German among others.
 */
const EXCEPTIONS =
  /^core\/(?:delivery|mailbox|mime|search)\/|document\/example(?:s|-values|-writing)\.ts$|^core\/reply\/quote\.ts$|\/unsubscribe-page\.ts$|\.(?:test|prop)\.ts$|^core\/errors\.ts$/;

it('is the only place with German texts', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const found = files
    .filter((file) => !EXCEPTIONS.test(file))
    .flatMap((file) =>
      readFileSync(new URL(file, SOURCES), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && GERMAN.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(files.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});

it('fills the values of a text in, bounded and without control characters', () => {
  expect(new ServiceError('invalid_uuid', { values: { field: 'id' } }).text).toBe(
    'id ist keine gültige UUID.',
  );
  expect(invalidRequest('too_long', { field: 'q', limit: 5 }).text).toBe(
    'Die Anfrage ist ungültig: q darf höchstens 5 Zeichen haben.',
  );
  const { text } = invalidRequest('missing', { field: `a\r\n${'b'.repeat(500)}` });
  expect(text).toMatch(/^Die Anfrage ist ungültig: a��b+…/);
  expect(text.length).toBeLessThan(300);
});
