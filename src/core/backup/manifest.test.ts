import { describe, expect, it } from 'vitest';
import { parseFileLine } from './file-entry.ts';
import { BACKUP_FORMAT, formatManifest, parseManifest, type Manifest } from './manifest.ts';

const HASH = 'ab'.repeat(32);
const MANIFEST: Manifest = {
  format: BACKUP_FORMAT,
  takenAt: '2026-03-01T12:00:00.000Z',
  endedAt: '2026-03-01T12:01:00.000Z',
  serviceVersion: '0.1.0',
  databaseId: HASH,
  postgres: '18.1',
  migrations: ['0001_schema'],
  schemaDigest: HASH,
  eventPosition: '1427000000000001',
  tables: [
    { name: 'emails', partitionOf: null, columns: ['id'], rows: 1, pieces: 1, sizeBytes: 37, sha256: HASH },
  ],
  sequences: [{ name: 'audit_log_position_seq', lastValue: '9223372036854775807', isCalled: true }],
  files: { pieces: 0, sizeBytes: 0, sha256: HASH, count: 0, contentBytes: 0, deleted: 0, missing: 0 },
};

describe('a manifest', () => {
  it('is read as it was written', () => {
    expect(parseManifest(formatManifest(MANIFEST))).toEqual(MANIFEST);
  });

  it.each([
    ['nothing', '', 'not JSON'],
    ['no object', 'null', 'has the format null'],
    ['another format', JSON.stringify({ ...MANIFEST, format: 2 }), 'has the format 2'],
    ['no digest', JSON.stringify(MANIFEST), 'not what was written'],
    ['a change', formatManifest(MANIFEST).replace('"rows": 1', '"rows": 2'), 'not what was written'],
    // An attacker who writes the digest too can't make a statement of a name.
    [
      'a hostile name',
      formatManifest({
        ...MANIFEST,
        sequences: [{ name: 'x"; drop table', lastValue: '1', isCalled: true }],
      }),
      'is damaged',
    ],
    ['a hostile number', formatManifest({ ...MANIFEST, eventPosition: '1; drop' }), 'is damaged'],
  ])('is refused: %s', (_what, text, message) => {
    expect(() => parseManifest(text)).toThrow(message);
  });
});

describe('a line of the list of files', () => {
  it.each([
    '',
    'null',
    '[]',
    '{"path":1}',
    `{"path":"a","sizeBytes":-0.5,"sha256":"${HASH}"}`,
    `{"path":"a","sizeBytes":1,"sha256":"x"}`,
    `{"path":"a","sizeBytes":1,"sha256":"${HASH}","pieces":["x"]}`,
    `{"path":"a","absent":"stolen"}`,
  ])('is refused when it is damaged: %s', (text) => {
    expect(() => parseFileLine(text)).toThrow(/list of files/);
  });
});
