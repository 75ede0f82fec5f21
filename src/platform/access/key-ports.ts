/** A key as it is stored, and the database operations that managing and checking keys needs. */
import type { Author } from '../../core/keys/author.ts';
import type { Right } from '../../core/keys/rights.ts';

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly rights: readonly Right[];
  /** null: all. */
  readonly accounts: readonly string[] | null;
  /** Requests within a minute; null: as many as the configuration allows. */
  readonly rateLimit: number | null;
  readonly createdAt: Date;
  readonly createdBy: Author;
  /** null: never. */
  readonly expiresAt: Date | null;
  /** Accurate to a minute; null: never used. */
  readonly lastUsedAt: Date | null;
  /** null: not revoked. */
  readonly revokedAt: Date | null;
  /** The secret before the last rotation is accepted until then; null: no such secret. */
  readonly oldSecretUntil: Date | null;
  /** Counts the changes; 1 at first. */
  readonly version: number;
}

/** SHA-256 of the accepted secrets. */
export interface KeyHashes {
  readonly hash: Buffer;
  readonly oldHash: Buffer | null;
}

export type CheckedKey = StoredKey & KeyHashes;

/** A key to be made. */
export type NewKey = Pick<
  StoredKey,
  'id' | 'name' | 'rights' | 'accounts' | 'rateLimit' | 'createdBy' | 'expiresAt'
> & {
  readonly hash: Buffer;
};

/** The keys that a caller sees: those of its accounts only; null: all. */
export type KeyScope = readonly string[] | null;

/** All throw `ServiceError('database_unavailable')`. */
export interface KeyStore {
  /** Throws `too_many_keys`. */
  create(key: NewKey): Promise<StoredKey>;
  /** The newest first, revoked ones too. */
  list(
    scope: KeyScope,
    before: { readonly date: Date; readonly id: string } | null,
    limit: number,
  ): Promise<readonly StoredKey[]>;
  /** null: the key does not exist, or is outside of the scope. */
  read(id: string, scope: KeyScope): Promise<StoredKey | null>;
  /** What is absent stays. Returns null when the key does not exist, or is revoked. Throws `key_changed`. @param version null: any */
  change(
    id: string,
    version: number | null,
    change: Partial<Pick<StoredKey, 'name' | 'rateLimit'>>,
  ): Promise<StoredKey | null>;
  /** False when the key does not exist, or is revoked already. Throws `key_changed`. @param version null: any */
  revoke(id: string, version: number | null): Promise<boolean>;
  /**
   * The current secret is accepted for another `oldValidMs`; 0: no longer. Returns null when the key does not exist, or is
   * revoked.
   */
  rotate(id: string, hash: Buffer, oldValidMs: number): Promise<StoredKey | null>;
  /** Every key, also those that were revoked lately (`revokedAt`); null when nothing has changed since `revision`. */
  readAll(
    revision: string | null,
  ): Promise<{ readonly revision: string; readonly keys: readonly CheckedKey[] } | null>;
  /** Records that they were used now. */
  noteUse(ids: readonly string[]): Promise<void>;
}
