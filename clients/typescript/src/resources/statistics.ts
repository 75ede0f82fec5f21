/** `client.statistics` */
import type { RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { QueryOf, Statistics as StatisticsResult, StatisticsFilter } from '../types.ts';

/** Counts of mail that was received, sent and failed. */
export class Statistics {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** By hour or by day, the oldest first. Without a filter: the last 30 days. */
  async read(filter: StatisticsFilter = {}, options: RequestOptions = {}): Promise<StatisticsResult> {
    const params = { query: plain<QueryOf<'getStatistics'>>(filter) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/statistics', { ...attempt, params }),
    );
  }
}
