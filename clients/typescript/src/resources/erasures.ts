/** `client.erasures` */
import type { RequestOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type { CheckedErasure, Erasure, ErasureRequest, Schemas } from '../types.ts';

/** Erases people, and keeps records of the erasures. */
export class Erasures {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Erases everything about an address or a customer permanently. It runs in the background; a repeat does no harm. */
  async create(request: ErasureRequest, options: RequestOptions = {}): Promise<Erasure> {
    return (await this.#post(request, false, options)) as Erasure;
  }

  /** What `create` would erase, by number; nothing is erased. */
  async check(request: ErasureRequest, options: RequestOptions = {}): Promise<CheckedErasure> {
    return (await this.#post(request, true, options)) as CheckedErasure;
  }

  #post(
    request: ErasureRequest,
    dry_run: boolean,
    options: RequestOptions,
  ): Promise<Erasure | CheckedErasure> {
    const body = plain<Schemas['ErasureRequest']>(request);
    const params = { query: { dry_run } };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/erasures', { ...attempt, params, body }),
    );
  }

  /** The progress of the erasure, and what has been erased. */
  async get(id: string, options: RequestOptions = {}): Promise<Erasure> {
    const params = { path: { id: segment('id', id) } };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/erasures/{id}', { ...attempt, params }),
    );
  }
}
