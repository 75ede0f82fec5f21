/** The secrets of `API_SECRET`, and the matching of a presented one. */
import { hash, timingSafeEqual } from 'node:crypto';
import { withEverything } from '../../core/keys/caller.ts';
import type { ShownKey } from './key-ring.ts';

export interface SecretHolder extends ShownKey {
  readonly secret: string;
}

/** One for each secret, in their order. Throws TypeError when there is none or one is empty. */
export function createSecretHolders(secrets: readonly string[]): readonly SecretHolder[] {
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
    throw new TypeError('at least one API secret is needed, and none may be empty');
  }
  return secrets.map((secret, index) => ({
    secret,
    caller: withEverything({ kind: 'secret', number: index + 1 }),
    isValid: () => true,
  }));
}

/**
 * Finds the holder of a secret. Hashing both sides gives equal lengths, so that the time taken reveals neither content
 * nor length.
 */
export function createSecretMatcher(
  holders: readonly SecretHolder[],
): (given: Buffer) => SecretHolder | null {
  const expected = holders.map((holder) => ({ holder, digest: sha256(Buffer.from(holder.secret, 'utf8')) }));
  return (given) => {
    const digest = sha256(given);
    let found: SecretHolder | null = null;
    for (const candidate of expected) {
      if (timingSafeEqual(digest, candidate.digest)) found = candidate.holder;
    }
    return found;
  };
}

const sha256 = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');
