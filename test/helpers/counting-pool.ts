/** The reads of lists: a pool that offers them only `query`, and counts the pages that each statement touches. */
import type pg from 'pg';

interface Plan {
  readonly Plan: Readonly<Record<'Shared Hit Blocks' | 'Shared Read Blocks', number>>;
}

/** Runs every statement twice, the second time to count the pages that it touches. */
export class CountingPool {
  /** Pages of 8 kB that all statements so far touched. */
  buffers = 0;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async query(config: { text: string; values: unknown[] }): Promise<pg.QueryResult> {
    const result = await this.#pool.query(config.text, config.values);
    const { rows } = await this.#pool.query<{ 'QUERY PLAN': readonly [Plan] }>(
      `explain (analyze, buffers, format json) ${config.text}`,
      config.values,
    );
    const [{ Plan: plan }] = rows[0]!['QUERY PLAN'];
    this.buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return result;
  }

  asPool(): pg.Pool {
    return this as unknown as pg.Pool;
  }
}
