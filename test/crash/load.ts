/** Clients that send until they are told to stop, and remember every answer. */
import { Agent, request as httpRequest } from 'node:http';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { Random } from './random.ts';
import { type Known, type LoadRequest, makeRequest } from './requests.ts';
import type { ServiceNode } from './service-node.ts';

/**
 * Longer than every time-out of the service, so a missing answer is always a fault: a storage that falls silent is asked again after
 * 20 s, and a send that its client gave up would come into the queue when the round has been checked.
 */
const ANSWER_TIMEOUT_MS = 70_000;
const MAX_TRIES = 4;
/** How long a key may be open while no process works on it. */
const SETTLE_TIMEOUT_MS = 30_000;
/** The reason given when the request could not even be made. */
export const DOWN = 'the process is down';
/** Number of answers to remember for threads. */
const MAX_KNOWN = 200;

export interface Answer {
  /** null if no answer came. */
  readonly status: number | null;
  readonly json: Readonly<Record<string, unknown>>;
  /** `database_unavailable` and the like; without an answer, the reason. */
  readonly code: string;
  readonly node: string;
  /** When the request began and ended, in ms since 1970. */
  readonly from: number;
  readonly to: number;
}

export interface Exchange {
  readonly request: LoadRequest;
  /** More than one only with an Idempotency-Key. */
  readonly answers: Answer[];
  /** The service answered that the email is cancelled, so it must not be sent. */
  cancelled: boolean;
}

export interface LoadOptions {
  readonly random: Random;
  /** The prefix of the tokens of its requests. */
  readonly prefix: string;
  readonly nodes: readonly ServiceNode[];
  /** Shared by the rounds, which add to it. */
  readonly known: Known[];
  /** Share of sends that go into the queue, from 0 to 1. */
  readonly asynchronousShare: number;
}

export class Load {
  readonly exchanges: Exchange[] = [];
  readonly #options: LoadOptions;
  readonly #known: Known[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #clients: Promise<void>[] = [];
  #running = false;
  #count = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#known = options.known;
  }

  start(clients: number): void {
    this.#running = true;
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  /** Resolves when every request that was begun is over. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  /** With everything healed, a request with a key gets its final answer. Returns the requests that do not. */
  async repeatKeyed(): Promise<readonly string[]> {
    const open: string[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    for (const exchange of this.exchanges) {
      if (exchange.request.headers['idempotency-key'] === undefined) continue;
      // It may have its final answer already; then it gets the same one again.
      const node = this.#options.random.pick(this.#options.nodes);
      await waitUntil(
        `the key of ${exchange.request.token} is settled`,
        async () => (await this.#post(exchange, node, agent)).code !== 'idempotency_in_progress',
        SETTLE_TIMEOUT_MS,
      ).catch(() => open.push(`I5 the key of ${exchange.request.token} stays open`));
    }
    agent.destroy();
    return open;
  }

  async #client(): Promise<void> {
    const { random, prefix, nodes, asynchronousShare } = this.#options;
    while (this.#running) {
      const node = random.pick(nodes);
      if (node.url === null) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      this.#count += 1;
      const request = makeRequest(random, `${prefix}${this.#count}`, this.#known, asynchronousShare);
      const exchange: Exchange = { request, answers: [], cancelled: false };
      this.exchanges.push(exchange);
      const keyed = request.headers['idempotency-key'] !== undefined;
      for (let attempt = 1; attempt <= (keyed ? MAX_TRIES : 1); attempt += 1) {
        const answer = await this.#post(exchange, random.pick(nodes), this.#agent);
        if (answer.status === 202 && request.cancelled) await this.#cancel(exchange, random.pick(nodes));
        if (answer.status !== null && answer.status !== 503 && answer.status !== 409) break;
      }
    }
  }

  async #post(exchange: Exchange, node: ServiceNode, agent: Agent): Promise<Answer> {
    const from = Date.now();
    const base = { node: node.name, from };
    let answer: Answer;
    try {
      if (node.url === null) throw new Error(DOWN);
      const patienceMs = exchange.answers.length === 0 ? exchange.request.patienceMs : null;
      const { status, json } = await post(node.url, { ...exchange.request, patienceMs }, agent);
      const code = typeof json['code'] === 'string' ? json['code'] : '';
      answer = { ...base, status, json, code, to: Date.now() };
    } catch (error) {
      const code = error instanceof Error ? error.message : String(error);
      answer = { ...base, status: null, json: {}, code, to: Date.now() };
    }
    exchange.answers.push(answer);
    this.#learn(answer);
    return answer;
  }

  async #cancel(exchange: Exchange, node: ServiceNode): Promise<void> {
    const id = String(exchange.answers.at(-1)?.json['id']);
    const response = await fetch(`${node.url ?? ''}/api/emails/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_SECRET}` },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    }).catch(() => null);
    const json = (await response?.json().catch(() => null)) as { state?: unknown } | null | undefined;
    if (response?.status === 200 && json?.state === 'cancelled') exchange.cancelled = true;
  }

  #learn({ status, json }: Answer): void {
    const { threadId, messageId } = json;
    if (status !== 200 || typeof threadId !== 'string' || typeof messageId !== 'string') return;
    if (this.#known.length >= MAX_KNOWN) this.#known.shift();
    this.#known.push({ threadId, messageId });
  }
}

/** Throws when no complete answer comes. Never sends a request twice by itself. */
function post(
  url: string,
  { body, headers, patienceMs }: LoadRequest,
  agent: Agent,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/api/send`, {
      agent,
      method: 'POST',
      timeout: ANSWER_TIMEOUT_MS,
      headers: {
        authorization: `Bearer ${TEST_SECRET}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('close', () => response.complete || reject(new Error('the answer was cut off')));
      response.on('end', () => {
        try {
          const json = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
          resolve({ status: response.statusCode ?? 0, json });
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    request.end(text);
    if (patienceMs !== null) {
      setTimeout(() => request.destroy(new Error('the client went away')), patienceMs);
    }
  });
}
