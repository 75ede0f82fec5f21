/** A key as it is stored, and what managing and checking keys needs from the database. */
import type { Author } from '../../core/keys/author.ts';
import type { Right } from '../../core/keys/rights.ts';

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly rights: readonly Right[];
  /** null: all. */
  readonly accounts: readonly string[] | null;
  readonly createdAt: Date;
  readonly createdBy: Author;
  /** null: never. */
  readonly expiresAt: Date | null;
  /** Within a minute; null: never used. */
  readonly lastUsedAt: Date | null;
  /** null: it was not. */
  readonly revokedAt: Date | null;
  /** The secret before the last rotation is accepted until then; null: there is none. */
  readonly oldSecretUntil: Date | null;
}

/** SHA-256 of the secrets that open. */
export interface KeyHashes {
  readonly hash: Buffer;
  readonly oldHash: Buffer | null;
}

export type CheckedKey = StoredKey & KeyHashes;

/** A key to be made. */
export type NewKey = Pick<StoredKey, 'id' | 'name' | 'rights' | 'accounts' | 'createdBy' | 'expiresAt'> & {
  readonly hash: Buffer;
};

/** Which keys a caller sees: those of its accounts alone; null: all. */
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
  /** null: none, or outside of the scope. */
  read(id: string, scope: KeyScope): Promise<StoredKey | null>;
  /** False when there is none, or it is revoked already. */
  revoke(id: string): Promise<boolean>;
  /** The secret until now is accepted until `oldUntil`; null: no more. null when there is none, or it is revoked. */
  rotate(id: string, hash: Buffer, oldUntil: Date | null): Promise<StoredKey | null>;
  /** Every key that is not revoked, unless nothing has changed since `revision`: null then. */
  readAll(
    revision: string | null,
  ): Promise<{ readonly revision: string; readonly keys: readonly CheckedKey[] } | null>;
  /** Notes that they were used now. */
  noteUse(ids: readonly string[]): Promise<void>;
}
