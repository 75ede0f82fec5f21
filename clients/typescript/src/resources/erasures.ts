/** `client.erasures` */
import type { RequestOptions } from '../options.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type { Erasure, ErasureRequest, Schemas } from '../types.ts';

/** Erases people, and keeps records of the erasures. */
export class Erasures {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Erases everything about an address or a customer permanently. It runs in the background; a repeat does no harm. */
  async create(request: ErasureRequest, options: RequestOptions = {}): Promise<Erasure> {
    const body = plain<Schemas['ErasureRequest']>(request);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/erasures', { ...attempt, body }),
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
