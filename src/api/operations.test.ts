/** Rules that every declaration keeps. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../platform/operation/declaration.ts';
import { OPERATIONS } from './operations.ts';

/** Writes by their method that change nothing that the log would have to say. */
const NO_ACTS: ReadonlySet<string> = new Set(['previewTemplate', 'previewRule', 'previewCapture']);

/** They check their caller themselves, against the accounts of the key that they are about. */
const WITHOUT_ACCOUNT = ['listKeys', 'getKey', 'changeKey', 'revokeKey', 'rotateKey'];

const declared: readonly Operation[] = OPERATIONS;
const withDryRun = declared.filter(({ query }) => query !== undefined && 'dry_run' in query);

describe('declared operations', () => {
  it('that write are acts in the audit log, and those that read are none', () => {
    const writes = declared.filter(({ method, id }) => method !== 'GET' && !NO_ACTS.has(id));
    expect(declared.flatMap(({ id, act }) => (act === undefined ? [] : [id]))).toEqual(
      writes.map(({ id }) => id),
    );
  });

  it('that know no account of what they touch are those of keys', () => {
    expect(declared.flatMap(({ id, account }) => (account === 'none' ? [id] : []))).toEqual(WITHOUT_ACCOUNT);
  });

  it.each(withDryRun)('a dry run of $id is no act', ({ act }) => {
    const unless = act?.unless as ((input: object) => boolean) | undefined;
    expect([unless?.({ dryRun: true }), unless?.({ dryRun: false })]).toEqual([true, false]);
  });
});
