import { expect, it } from 'vitest';
import { unknownName } from './unknown-name.ts';

const KNOWN = ['subject', 'send_at', 'limit', 'label'];

it.each([
  ['subjct', 'subject'],
  ['sendAt', 'send_at'],
  ['label[]', 'label'],
  ['LIMIT', 'limit'],
])('names the close name of %s', (name, close) => {
  expect(unknownName('unknown_field', name, KNOWN, 'message.').text).toBe(
    `Unbekanntes Feld: message.${name}. Vielleicht ist message.${close} gemeint.`,
  );
});

it.each(['dry_run', '', '?', 'x'.repeat(100_000)])('names none where none is close', (name) => {
  expect(unknownName('unknown_parameter', name, KNOWN).text).not.toContain('Vielleicht');
});
