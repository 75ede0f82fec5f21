/** The email after which an answer goes out without a question. */
import { describe, expect, it } from 'vitest';
import { newestSeen } from '../../page/src/features/write/newest-seen.ts';

const email = (id: string, at: string) => ({ id, created_at: `2026-03-01T${at}:00.000Z` });

describe('the newest email that a writer has seen', () => {
  it('is the one that was recorded last, wherever its date puts it', () => {
    expect(newestSeen([email('b', '10:00'), email('a', '12:00'), email('c', '11:00')], null)).toBe('a');
    expect(newestSeen([email('a', '10:00'), email('b', '10:00')], null)).toBe('b');
    expect(newestSeen([], null)).toBeNull();
  });
  it('is no email that came after the draft was begun', () => {
    const emails = [email('a', '10:00'), email('b', '12:00')];
    expect(newestSeen(emails, '2026-03-01T11:00:00.000Z')).toBe('a');
    expect(newestSeen(emails, '2026-03-01T09:00:00.000Z')).toBeNull();
  });
});
