/** Idempotency keys in memory, for tests that make the store fail on demand. */
import type { SendOutcome } from '../../src/areas/send/use-cases.ts';
import type { IdempotencyKeys, KeyHold } from '../../src/areas/send/idempotency.ts';

interface StoredKey {
  readonly hold: KeyHold;
  readonly fingerprint: Buffer;
  outcome: SendOutcome | null;
}

export interface MemoryKeys extends IdempotencyKeys {
  readonly stored: Map<string, StoredKey>;
}

export function createMemoryKeys(): MemoryKeys {
  const stored = new Map<string, StoredKey>();
  const openOf = ({ key, emailId }: KeyHold) => {
    const found = stored.get(key);
    return found?.hold.emailId === emailId && found.outcome === null ? found : undefined;
  };
  return {
    stored,
    async claim(hold, fingerprint) {
      const taken = stored.get(hold.key);
      if (taken !== undefined)
        return { kind: 'taken', fingerprint: taken.fingerprint, outcome: taken.outcome };
      stored.set(hold.key, { hold, fingerprint, outcome: null });
      return { kind: 'claimed' };
    },
    async complete(hold, outcome) {
      const open = openOf(hold);
      if (open !== undefined) open.outcome = outcome;
    },
    async release(hold) {
      if (openOf(hold) !== undefined) stored.delete(hold.key);
    },
    listOpen: async () =>
      [...stored.values()].filter(({ outcome }) => outcome === null).map(({ hold }) => hold),
    deleteExpired: async () => 0,
  };
}
