/** Creates, changes, revokes and rotates keys. No caller gets a key with more rights than it has itself. */
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import {
  createKeyId,
  createKeySecret,
  formatApiKey,
  ID_BYTES,
  SECRET_BYTES,
} from '../../core/keys/api-key.ts';
import { coversAll, type Caller } from '../../core/keys/caller.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { Clock, IdSource } from '../../platform/base/basics.ts';
import { createCursorForm, readPage, type PageRequest, type Place } from '../../platform/base/paging.ts';
import { hashSecret } from '../../platform/access/hash-secret.ts';
import type { KeyStore, StoredKey } from '../../platform/access/key-ports.ts';

export interface NewKeyRequest {
  /** For people; 1 to 100 characters. */
  readonly name: string;
  readonly rights: readonly Right[];
  /** null: all. */
  readonly accounts: readonly string[] | null;
  /** Requests within a minute; null: as many as the configuration allows. */
  readonly rateLimit: number | null;
  /** null: never. */
  readonly expiresAt: Date | null;
}

/** What is absent stays. */
export type KeyChange = Partial<Pick<NewKeyRequest, 'name' | 'rateLimit'>>;

export interface KeyWithSecret {
  readonly key: StoredKey;
  /** `ewk_…`, returned only this once. */
  readonly secret: string;
}

export interface ManageKeysPorts {
  readonly store: KeyStore;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Like PLACE_CURSOR, with the id of a key. */
const KEY_CURSOR = createCursorForm<Place>(
  ({ date, id }) => `${date.getTime()}:${id}`,
  (text) => {
    const [, milliseconds, id] = /^(\d{1,15}):([0-9a-z]{12})$/.exec(text) ?? [];
    return id === undefined ? null : { date: new Date(Number(milliseconds)), id };
  },
);

export type Keys = ReturnType<typeof createKeys>;

/** For keys with accounts that the caller does not see, all methods throw `key_not_found`. */
export function createKeys({ store, clock, ids }: ManageKeysPorts) {
  async function read(caller: Caller, id: string): Promise<StoredKey> {
    return found(await store.read(id, caller.accounts));
  }

  function makeSecret(): { readonly secret: string; readonly hash: Buffer } {
    const secret = createKeySecret(ids.randomBytes(SECRET_BYTES));
    return { secret, hash: hashSecret(secret) };
  }

  return {
    /** Throws `key_exceeds_caller`, `too_many_keys`, `invalid_request`. */
    async create(
      caller: Caller,
      { name, rights, accounts, rateLimit, expiresAt }: NewKeyRequest,
    ): Promise<KeyWithSecret> {
      if (name.trim() === '') throw invalidRequest('empty', { field: 'name' });
      if (expiresAt !== null && expiresAt <= clock()) {
        throw invalidRequest('too_small', { field: 'expires_at', limit: clock().toISOString() });
      }
      if (!coversAll(caller, { rights, accounts, rateLimit, expiresAt }))
        throw new ServiceError('key_exceeds_caller');
      const id = createKeyId(ids.randomBytes(ID_BYTES));
      const { secret, hash } = makeSecret();
      const request = { name, rights: unique(rights), accounts: accounts === null ? null : unique(accounts) };
      const key = await store.create({
        ...request,
        id,
        rateLimit,
        expiresAt,
        createdBy: caller.author,
        hash,
      });
      return { key, secret: formatApiKey({ id, secret }) };
    },

    /** The newest first, revoked ones too. Throws `invalid_cursor`. */
    async list(caller: Caller, request: PageRequest) {
      const { items, nextCursor } = await readPage(
        KEY_CURSOR,
        request,
        (before, limit) => store.list(caller.accounts, before, limit),
        ({ createdAt, id }) => ({ date: createdAt, id }),
      );
      return { keys: items, nextCursor };
    },

    read,

    /** Counts within two seconds. Throws `key_not_found`, also when it is revoked, `key_exceeds_caller`, `invalid_request`. */
    async change(caller: Caller, id: string, version: number | null, change: KeyChange): Promise<StoredKey> {
      if (change.name?.trim() === '') throw invalidRequest('empty', { field: 'name' });
      if (!coversAll(caller, { ...(await read(caller, id)), ...change }))
        throw new ServiceError('key_exceeds_caller');
      return found(await store.change(id, version, change));
    },

    /** The key stops working within two seconds. */
    async revoke(caller: Caller, id: string, version: number | null): Promise<StoredKey> {
      await read(caller, id);
      await store.revoke(id, version);
      return read(caller, id);
    },

    /** Makes a new secret; the old one is accepted for this long. Throws `key_exceeds_caller`. */
    async rotate(caller: Caller, id: string, oldValidMs: number): Promise<KeyWithSecret> {
      // The caller learns the secret, and may then act as this key.
      if (!coversAll(caller, await read(caller, id))) throw new ServiceError('key_exceeds_caller');
      const { secret, hash } = makeSecret();
      const key = found(await store.rotate(id, hash, oldValidMs));
      return { key, secret: formatApiKey({ id, secret }) };
    },
  };
}

const unique = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];

function found(key: StoredKey | null): StoredKey {
  if (key === null) throw new ServiceError('key_not_found');
  return key;
}
