/** The journal in a map that outlives the process, as a disk does. */
import type { Journal, JournalEntry } from '../../src/areas/send/journal-ports.ts';

/** By the ids of the claims. */
export type Disk = Map<string, JournalEntry>;

/** @param write carries out a write that takes time, and may fail */
export function createMemoryJournal(
  owner: string,
  disk: Disk,
  write: (label: string, effect: () => void) => Promise<void>,
): Journal {
  return {
    owner,
    prepare: (attempt) => write('attempt', () => void disk.set(attempt.claimId, { attempt, ended: null })),
    settle(ended) {
      const entry = disk.get(ended.claimId);
      if (entry !== undefined) disk.set(ended.claimId, { ...entry, ended });
      return { flush: () => write('outcome', () => {}) };
    },
    remove: ({ claimId }) => write('removal', () => void disk.delete(claimId)),
    has: ({ claimId }) => disk.has(claimId),
    keys: () => [...disk.values()].map(({ attempt }) => attempt),
    read: ({ claimId }) => disk.get(claimId) ?? null,
    close: async () => {},
  };
}
