/**
 * Transactions that write an event early and end late, beside those of the services: their events appear after events committed earlier,
 * and never before a position that a consumer has passed. That a consumer missed none is found by comparing (`feed-follower.ts`); this file
 * checks that the feed has each event once, and none that was rolled back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { waitUntil } from '../helpers/wait-until.ts';
import type { Database } from './database.ts';
import type { Random } from './random.ts';

const WRITERS = 4;
const OPEN_MS = { min: 50, max: 1500 };
const ROLLED_BACK_SHARE = 0.2;
/** No service knows of these transactions; each service looks every 10 s. */
const NUMBERED_TIMEOUT_MS = 25_000;

const WRITE = `insert into event_inbox (bodies) values (array[row('account.recovered', clock_timestamp(), null, null, null, null, null,
  false, json_build_object('marker', $1::text)::text, null, null)::event_body])`;

type Outcome = 'committed' | 'rolled back' | 'not known';

export class LongTransactions {
  readonly #database: Database;
  readonly #random: Random;
  readonly #prefix: string;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #writing: readonly Promise<void>[];
  #isStopped = false;

  /** @param prefix not used by any other round */
  constructor(database: Database, random: Random, prefix: string) {
    this.#database = database;
    this.#random = random;
    this.#prefix = prefix;
    this.#writing = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writing);
  }

  /** Returns a description of each fault, once everything is numbered. */
  async check(): Promise<readonly string[]> {
    await waitUntil('everything is numbered', () => this.#isNumbered(), NUMBERED_TIMEOUT_MS).catch(
      () => undefined,
    );
    const rows = await this.#database.query(
      `select data::json ->> 'marker' as marker, count(*)::int as times from events
       where type = 'account.recovered' and starts_with(data::json ->> 'marker', $1) group by 1`,
      [this.#prefix],
    );
    const times = new Map(rows.map((row) => [String(row['marker']), Number(row['times'])]));
    return [...this.#outcomes].flatMap(([marker, outcome]) => {
      const count = times.get(marker) ?? 0;
      const isRight = outcome === 'not known' ? count <= 1 : count === (outcome === 'committed' ? 1 : 0);
      return isRight
        ? []
        : [`I8 the feed has ${count} times an event of a transaction that was ${outcome}: ${marker}`];
    });
  }

  async #isNumbered(): Promise<boolean> {
    return (await this.#database.query('select from event_inbox limit 1')).length === 0;
  }

  async #write(writer: number): Promise<void> {
    for (let ordinal = 0; !this.#isStopped; ordinal += 1) {
      const marker = `${this.#prefix}${writer}-${ordinal}`;
      const openMs = this.#random.integer(OPEN_MS.min, OPEN_MS.max);
      const end = this.#random.chance(ROLLED_BACK_SHARE) ? 'rollback' : 'commit';
      const client = await this.#database.connect().catch(() => null);
      if (client === null) await sleep(50);
      else this.#outcomes.set(marker, await runOne(client, marker, openMs, end));
    }
  }
}

/** The server may be killed at each step; only an answer to the commit proves that it was committed. */
async function runOne(
  client: Client,
  marker: string,
  openMs: number,
  end: 'commit' | 'rollback',
): Promise<Outcome> {
  let isEnding = false;
  try {
    await client.query('begin');
    await client.query(WRITE, [marker]);
    await sleep(openMs);
    isEnding = true;
    await client.query(end);
    return end === 'commit' ? 'committed' : 'rolled back';
  } catch {
    return isEnding && end === 'commit' ? 'not known' : 'rolled back';
  } finally {
    await client.end().catch(() => undefined);
  }
}
