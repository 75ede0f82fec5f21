/** A key as the API shows it, without its secret. */
import type { StoredKey } from '../../../app/keys/key-ports.ts';
import { toAuthorJson } from '../../../platform/schemas/author.ts';

export function toKeyJson(key: StoredKey) {
  return {
    id: key.id,
    name: key.name,
    rights: [...key.rights],
    account_ids: key.accounts === null ? ('*' as const) : [...key.accounts],
    rate_limit: key.rateLimit,
    created_at: key.createdAt.toISOString(),
    created_by: toAuthorJson(key.createdBy),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    old_secret_until: key.oldSecretUntil?.toISOString() ?? null,
  };
}
