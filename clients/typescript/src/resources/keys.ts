/** `client.keys` */
import { readVersion, type RequestOptions, type VersionOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  ChangeKeyRequest,
  CreateKeyRequest,
  Key,
  KeyWithSecret,
  PageFilter,
  QueryOf,
  RotateKeyRequest,
  Schemas,
} from '../types.ts';

const pathOf = (id: string) => ({ id: segment('id', id) });

/** API keys, each with its own rights and accounts. */
export class Keys {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The secret is shown only in this answer. Not retried automatically: a repeat would make another key. Fails with `key_exceeds_caller`.
   */
  async create(request: CreateKeyRequest, options: RequestOptions = {}): Promise<KeyWithSecret> {
    const { expires_at: expiresAt, ...others } = request;
    const body = plain<Schemas['KeyRequest']>({
      ...others,
      expires_at: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt,
    });
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/keys', { ...attempt, body }),
    );
  }

  /** Newest first, including revoked keys. */
  list(filter: PageFilter = {}, options: RequestOptions = {}): Pages<Key> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listKeys'>) =>
        this.#transport.api.GET('/api/keys', { ...attempt, params: { query } }),
      (data) => data.keys,
    );
  }

  /** Fails with `key_not_found`. */
  async get(id: string, options: RequestOptions = {}): Promise<Key> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/keys/{id}', { ...attempt, params: { path } }),
    );
  }

  /** What is not named stays. Counts within two seconds. Fails with `key_not_found`, `key_exceeds_caller`. */
  async change(id: string, request: ChangeKeyRequest, versioned: VersionOptions = {}): Promise<Key> {
    const path = pathOf(id);
    const { header, options } = readVersion(versioned);
    const body = plain<Schemas['ChangeKeyRequest']>(request);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.PATCH('/api/keys/{id}', { ...attempt, params: { path, ...header }, body }),
    );
  }

  /** The key stops working within two seconds. */
  async revoke(id: string, versioned: VersionOptions = {}): Promise<Key> {
    const path = pathOf(id);
    const { header, options } = readVersion(versioned);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.DELETE('/api/keys/{id}', { ...attempt, params: { path, ...header } }),
    );
  }

  /** Makes a new secret, shown only in this answer. Not retried automatically: a repeat would end the secret of the first call. */
  async rotate(
    id: string,
    request: RotateKeyRequest = {},
    options: RequestOptions = {},
  ): Promise<KeyWithSecret> {
    const path = pathOf(id);
    const body = plain<Schemas['RotateKeyRequest']>(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/keys/{id}/rotate', { ...attempt, params: { path }, body }),
    );
  }
}
