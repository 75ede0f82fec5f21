/** The use cases of keys that the edges call. */
import type { Caller } from '../../core/keys/caller.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { PageRequest } from '../base/paging.ts';
import type { StoredKey } from './key-ports.ts';

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

export interface KeysPage {
  readonly keys: readonly StoredKey[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** For keys with accounts that the caller does not see, all methods report that the key does not exist. */
export interface KeyUseCases {
  /** Throws `key_exceeds_caller`, `unknown_account`, `too_many_keys`, `invalid_request`. */
  createKey(caller: Caller, request: NewKeyRequest): Promise<KeyWithSecret>;
  /** The newest first, revoked ones too. Throws `invalid_cursor`. */
  listKeys(caller: Caller, request: PageRequest): Promise<KeysPage>;
  /** Throws `key_not_found`. */
  readKey(caller: Caller, id: string): Promise<StoredKey>;
  /** Counts within two seconds. Throws `key_not_found`, also when it is revoked, `key_exceeds_caller`, `invalid_request`. */
  changeKey(caller: Caller, id: string, change: KeyChange): Promise<StoredKey>;
  /** The key stops working within two seconds. Throws `key_not_found`. */
  revokeKey(caller: Caller, id: string): Promise<StoredKey>;
  /** Makes a new secret; the old one is accepted for this long. Throws `key_not_found`, `key_exceeds_caller`. */
  rotateKey(caller: Caller, id: string, oldValidMs: number): Promise<KeyWithSecret>;
}
