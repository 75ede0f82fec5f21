/**
 * I9: an endpoint with two webhooks, one in order and one that overtakes. It refuses, hangs and cuts now and then. In the end it has
 * answered 2xx to each event of the feed for each webhook, the ordered one got its events in order, and few events were repeated.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { Database } from './database.ts';
import { readLatest } from './feed-follower.ts';
import type { Random } from './random.ts';

/**
 * Longer than each of these: the retry after a third failure (80 s and a fifth of it, after 5 s and 20), since a machine that has no time
 * for this endpoint makes it fail as well; the lease of a process that is gone; and numbering by another process.
 */
const AGREE_TIMEOUT_MS = 150_000;
/** A receiver that follows Standard Webhooks refuses what is older, or newer. */
const TOLERANCE_S = 300;
/** One in this many requests is not answered as it should be. */
const FAIL_EVERY = 25;
/** Per round: each refusal puts the webhook off, by a second or five. */
const MAX_REFUSED = 5;
const MAX_BROKEN = 1;
/** Events that a process may have posted and not stored when it is killed or loses its lease: twice MAX_UNSTORED of a run. */
const MAX_AGAIN = 100;

interface Stream {
  readonly name: string;
  readonly maxInFlight: number;
  secret: string | null;
  /** In the order of the first answers; all ids have the same width, so they compare as texts. */
  answered: Set<string>;
  again: number;
}

export class WebhookEndpoint {
  readonly #random: Random;
  readonly #streams: readonly Stream[] = [
    { name: 'in-order', maxInFlight: 1, secret: null, answered: new Set(), again: 0 },
    { name: 'overtaking', maxInFlight: 8, secret: null, answered: new Set(), again: 0 },
  ];
  readonly #server = createServer((request, response) => {
    void this.#take(request, response).catch(() => response.destroy());
  });
  #faults: string[] = [];
  #refused = 0;
  #broken = 0;
  #from = '';
  /** The database's clock, which dates the requests, is wrong now and then. */
  #isAnyTime = false;

  private constructor(random: Random) {
    this.#random = random;
  }

  /** Creates the webhooks through the service at `url`, which may post to 127.0.0.1. */
  static async start(url: string, random: Random): Promise<WebhookEndpoint> {
    const endpoint = new WebhookEndpoint(random);
    await endpoint.#start(url);
    return endpoint;
  }

  async #start(serviceUrl: string): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    for (const stream of this.#streams) {
      const response = await fetch(`${serviceUrl}/api/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_SECRET}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          url: `http://127.0.0.1:${port}/${stream.name}`,
          max_in_flight: stream.maxInFlight,
        }),
      });
      const json = (await response.json()) as { readonly secret?: string };
      if (json.secret === undefined) throw new Error(`no webhook was made: ${JSON.stringify(json)}`);
      stream.secret = json.secret;
    }
  }

  /** Earlier events do not count. */
  async beginRound(database: Database, isClockMoved: boolean): Promise<void> {
    this.#isAnyTime = isClockMoved;
    this.#from = await readLatest(database);
    this.#refused = 0;
    this.#broken = 0;
    for (const stream of this.#streams) {
      stream.answered = new Set();
      stream.again = 0;
    }
  }

  /**
   * Returns a description of each fault, once everything should be delivered. `deaths`: how often a process may have lost its webhooks;
   * null: all the time.
   */
  async endRound(database: Database, deaths: number | null): Promise<readonly string[]> {
    let missing: readonly string[] = [];
    const hasAll = async (): Promise<boolean> => {
      const ids = await readIds(database, this.#from);
      missing = this.#streams.flatMap(({ name, answered }) => {
        const left = ids.filter((id) => !answered.has(id));
        return left.length === 0
          ? []
          : [`I9 ${name}: ${left.length} of ${ids.length} events never came: ${left[0]}`];
      });
      return missing.length === 0;
    };
    await waitUntil('each event is delivered', hasAll, AGREE_TIMEOUT_MS).catch(() => undefined);
    const wrong = this.#streams.flatMap(({ name, maxInFlight, answered, again }) => [
      ...(maxInFlight === 1 && !isAscending([...answered]) ? [`I9 ${name}: not in order`] : []),
      ...(deaths !== null && again > MAX_AGAIN * (deaths + 1)
        ? [`I9 ${name}: ${again} events came again, after ${deaths} deaths`]
        : []),
    ]);
    const told = missing.length === 0 ? [] : await describeWebhooks(database);
    return [...missing, ...told, ...wrong, ...this.#faults.splice(0)];
  }

  /** Repeated events, of both webhooks. */
  get again(): number {
    return this.#streams.reduce((sum, { again }) => sum + again, 0);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const stream = this.#streams.find(({ name }) => request.url === `/${name}`);
    if (stream?.secret === null || stream === undefined) {
      response.writeHead(503, { 'retry-after': '1' }).end();
      return;
    }
    const id = String(request.headers['webhook-id']);
    const seconds = Number(request.headers['webhook-timestamp']);
    const signature = new Webhook(stream.secret).sign(
      id,
      new Date(seconds * 1000),
      Buffer.concat(pieces).toString(),
    );
    if (request.headers['webhook-signature'] !== signature)
      this.#faults.push(`I9 ${stream.name}: event ${id} has no good signature`);
    const offBySeconds = Math.round(Date.now() / 1000 - seconds);
    if (!this.#isAnyTime && Math.abs(offBySeconds) > TOLERANCE_S)
      this.#faults.push(`I9 ${stream.name}: event ${id} was signed ${offBySeconds} s before it came`);
    if (this.#random.integer(1, FAIL_EVERY) === 1 && this.#fail(response)) return;
    if (stream.answered.has(id)) stream.again += 1;
    stream.answered.add(id);
    response.writeHead(204).end();
  }

  /** True if the request fails; a failed event counts as not received. */
  #fail(response: ServerResponse): boolean {
    if (this.#refused < MAX_REFUSED) {
      this.#refused += 1;
      response.writeHead(503, { 'retry-after': '1' }).end();
    } else if (this.#broken < MAX_BROKEN) {
      this.#broken += 1;
      // Either no answer, or one that never comes, which the service's own timeout ends.
      if (this.#random.chance(0.5)) response.destroy();
    } else {
      return false;
    }
    return true;
  }
}

function isAscending(ids: readonly string[]): boolean {
  return ids.every((id, index) => index === 0 || ids[index - 1]! < id);
}

async function readIds(database: Database, from: string): Promise<readonly string[]> {
  const rows = await database.query(
    `select lpad(to_hex(position), 16, '0') as id from events where position > ('x' || $1)::bit(64)::bigint order by position`,
    [from],
  );
  return rows.map(({ id }) => String(id));
}

async function describeWebhooks(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    `select w.url, w.pause_reason, w.pause_detail, p.position, p.owner, p.lease_until, now() as now,
       (select to_json(d) from webhook_deliveries d where d.webhook_id = w.id order by started_at desc limit 1) as last
     from webhooks w join webhook_positions p on p.webhook_id = w.id`,
  );
  return rows.map((row) => `I9 ${JSON.stringify(row)}`);
}
