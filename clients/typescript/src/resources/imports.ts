/** `client.imports` */
import type { RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { Import, ImportFilter, QueryOf } from '../types.ts';

/** Files of mail that the command `email-worker import` records. */
export class Imports {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The last 100 imports with their progress, newest first. */
  async list(filter: ImportFilter = {}, options: RequestOptions = {}): Promise<readonly Import[]> {
    const params = { query: plain<QueryOf<'listImports'>>(filter) };
    const { imports } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/imports', { ...attempt, params }),
    );
    return imports;
  }
}
