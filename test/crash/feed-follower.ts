/**
 * I8: a consumer of the feed of events that is killed again and again, and stores each page together with its position. In the end it has
 * every event of the table once, in order, and the last event of each email agrees with the email's record.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { Database } from './database.ts';
import type { Random } from './random.ts';
import type { ServiceNode } from './service-node.ts';

const MAX_PAGE = 50;
/** One in this many requests is cut, or its answer is forgotten. */
const KILL_EVERY = 4;
const KILL_WITHIN_MS = 60;
const REQUEST_TIMEOUT_MS = 5000;
/** Events written by a process that was killed are numbered by another one within 10 s. */
const AGREE_TIMEOUT_MS = 25_000;

interface PageJson {
  readonly events: readonly { readonly id: string }[];
  readonly next: string;
}

export class FeedFollower {
  readonly #nodes: readonly ServiceNode[];
  readonly #random: Random;
  readonly #start: string;
  readonly #stored: string[] = [];
  #position: string;
  #isStopped = false;
  readonly #following: Promise<void>;

  private constructor(nodes: readonly ServiceNode[], random: Random, start: string) {
    this.#nodes = nodes;
    this.#random = random;
    this.#start = start;
    this.#position = start;
    this.#following = this.#follow();
  }

  /** Begins after the newest event. */
  static async begin(
    nodes: readonly ServiceNode[],
    database: Database,
    random: Random,
  ): Promise<FeedFollower> {
    return new FeedFollower(nodes, random, await readLatest(database));
  }

  /** Returns a description of each fault, once the feed has stood still. `prefix`: of the subjects of this round. */
  async end(database: Database, prefix: string): Promise<readonly string[]> {
    let found: readonly string[] = [];
    const agrees = async () => {
      found = await this.#compare(database, prefix);
      return found.length === 0;
    };
    await waitUntil('the feed says what the tables say', agrees, AGREE_TIMEOUT_MS).catch(() => undefined);
    this.#isStopped = true;
    await this.#following;
    return found;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const limit = this.#random.integer(1, MAX_PAGE);
      const isKilled = this.#random.integer(1, KILL_EVERY) === 1;
      const killMs = this.#random.integer(1, KILL_WITHIN_MS);
      const { url } = this.#random.pick(this.#nodes);
      try {
        const response = await fetch(`${url}/api/events?after=${this.#position}&limit=${limit}&wait=1`, {
          headers: { authorization: `Bearer ${TEST_SECRET}` },
          signal: AbortSignal.timeout(isKilled ? killMs : REQUEST_TIMEOUT_MS),
        });
        const page = (await response.json()) as PageJson;
        if (response.status !== 200) throw new Error(`${response.status}`);
        // In one step, as a consumer does in one transaction
        if (!isKilled) {
          this.#stored.push(...page.events.map(({ id }) => id));
          this.#position = page.next;
        }
      } catch {
        // The service may be away, as may the database; the follower continues after its stored position.
        await sleep(20);
      }
    }
  }

  async #compare(database: Database, prefix: string): Promise<readonly string[]> {
    const [latest, stored] = [await readLatest(database), this.#stored.slice()];
    const rows = await database.query(
      `select lpad(to_hex(position), 16, '0') as id from events
       where position > ('x' || $1)::bit(64)::bigint and position <= ('x' || $2)::bit(64)::bigint order by position`,
      [this.#start, latest],
    );
    const ids = rows.map(({ id }) => String(id));
    const disagreeing = await database.query(DISAGREEING, [`${prefix}%`]);
    const isSame = ids.length === stored.length && ids.every((id, index) => id === stored[index]);
    return [
      ...(isSame
        ? []
        : [
            `I8 the consumer has ${stored.length} events up to ${this.#position}, the feed ${ids.length} up to ${latest}`,
          ]),
      ...disagreeing.map((row) => `I8 feed and table disagree: ${JSON.stringify(row)}`),
    ];
  }
}

/** The id of the newest event. */
export async function readLatest(database: Database): Promise<string> {
  const [row] = await database.query(`select lpad(to_hex(position), 16, '0') as id from event_clock`);
  return String(row?.['id']);
}

/** Emails that were not announced exactly once, or whose last event has another state. */
const DISAGREEING = `
  select e.id, e.state, t.firsts, t.types from emails e, lateral (
    select count(*) filter (where v.data like '{"email":%') as firsts, array_agg(v.type order by v.position) as types,
      (array_agg(v.data::json ->> 'state' order by v.position desc))[1] as state
    from events v
    where v.email_id = e.id and v.type like 'email.%'
      and v.type not in ('email.updated', 'email.delivered', 'email.bounced', 'email.complained')
  ) t
  where e.subject like $1 and (t.firsts <> 1 or t.state is distinct from e.state)`;
