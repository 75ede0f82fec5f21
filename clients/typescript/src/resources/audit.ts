/** `client.audit` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import type { Transport } from '../transport.ts';
import type { AuditEntry, AuditFilter, QueryOf } from '../types.ts';

/** The audit log: who asked for what, and with what result. */
export class Audit {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. */
  list(filter: AuditFilter = {}, options: RequestOptions = {}): Pages<AuditEntry> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listAudit'>) =>
        this.#transport.api.GET('/api/audit', { ...attempt, params: { query } }),
      (data) => data.entries,
    );
  }
}
