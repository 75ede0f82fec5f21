/** `client.erasures` */
import type { RequestOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type { Erasure, ErasureRequest, Schemas } from '../types.ts';

/** Erasing people, and the records of it. */
export class Erasures {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Everything of an address, or of a customer, for good. It goes on in the background; a repeat does no harm. */
  async create(request: ErasureRequest, options: RequestOptions = {}): Promise<Erasure> {
    const body = plain<Schemas['ErasureRequest']>(request);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/erasures', { ...attempt, body }),
    );
  }

  /** How far it is, and what was erased. */
  async get(id: string, options: RequestOptions = {}): Promise<Erasure> {
    const params = { path: { id: segment('id', id) } };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/erasures/{id}', { ...attempt, params }),
    );
  }
}
