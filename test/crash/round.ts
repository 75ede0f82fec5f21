/** One round: load, faults at random moments, heal, wait until everything is stored, check. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../helpers/wait-until.ts';
import { type ClaimCounts, countClaimEvents, readClaimEvents } from './claim-events.ts';
import { checkApi } from './check-api.ts';
import { checkEvidence, type EmailRow, type Findings, isFinal, tokenOf } from './check.ts';
import { FeedFollower } from './feed-follower.ts';
import { FAULTS, movesDatabaseClock, type Fault } from './faults.ts';
import { checkRetries } from './retries.ts';
import { Load } from './load.ts';
import { LongTransactions } from './long-transactions.ts';
import { findByCommand } from './processes.ts';
import { createRandom, type Random } from './random.ts';
import type { LedgerLine } from './smtp-counter.ts';
import { healWorld, type World } from './world.ts';

const CLIENTS = 12;
const LOAD_MS = { min: 600, max: 1_800 };
/** A starved service takes longer to get into trouble. */
const STARVED_LOAD_MS = { min: 1_500, max: 3_500 };
/** Starving is the fault itself; others come now and then. */
const STARVED_FAULTS = [0, 0, 0, 1] as const;
const ASYNCHRONOUS_SHARE = 0.3;
const STARVED_ASYNCHRONOUS_SHARE = 0.75;
const DRAIN_TIMEOUT_MS = 45_000;

export interface RoundResult {
  readonly round: number;
  readonly faults: readonly string[];
  readonly requests: number;
  readonly accepted: number;
  /** Events that webhooks posted again. */
  readonly postedAgain: number;
  /** New copies in the Sent mailbox. */
  readonly copies: number;
  readonly findings: Findings;
  /** The fate of the queue's claims. */
  readonly claims: ClaimCounts;
  readonly violations: readonly string[];
  /** Duration of each step, in ms. */
  readonly laps: ReadonlyMap<string, number>;
}

export interface RoundOptions {
  readonly seed: number;
  readonly round: number;
  /** End every process in order and look through its remains. */
  readonly audit: boolean;
  /** Counts over all rounds so far. */
  readonly acceptances: Map<string, number>;
}

export async function runRound(world: World, options: RoundOptions): Promise<RoundResult> {
  const laps = new Map<string, number>();
  let lapBegun = performance.now();
  const lap = (name: string): void => {
    laps.set(name, Math.round(performance.now() - lapBegun));
    lapBegun = performance.now();
  };
  const starved = world.starver !== null;
  const claimsBefore = await countClaimEvents(world.database);
  const random = createRandom(options.seed, options.round);
  const prefix = `crash-${world.setup}-${options.seed}-${options.round}-`;
  const load = new Load({
    random: createRandom(options.seed, options.round, 1),
    prefix,
    nodes: world.nodes,
    known: world.known,
    asynchronousShare: starved ? STARVED_ASYNCHRONOUS_SHARE : ASYNCHRONOUS_SHARE,
  });
  const faults = pickFaults(world, random);
  const { min, max } = starved ? STARVED_LOAD_MS : LOAD_MS;
  const loadMs = random.integer(min, max);
  const kills: number[] = [];
  const found: string[] = [];

  const follower = await FeedFollower.begin(
    world.nodes,
    world.database,
    createRandom(options.seed, options.round, 2),
  );
  const isMoved = faults.some(movesDatabaseClock);
  await world.webhooks.beginRound(world.database, isMoved);
  const transactions = new LongTransactions(
    world.database,
    createRandom(options.seed, options.round, 3),
    `${prefix}held-`,
  );
  world.starver?.begin();
  load.start(CLIENTS);
  await Promise.all([
    sleep(loadMs),
    ...faults.map((fault) => inject(world, fault, random, loadMs, found, kills)),
  ]);
  for (const node of world.nodes) node.measureMemory();
  lap('faults');
  await Promise.all([load.stop(), healWorld(world, random)]);
  await transactions.stop();
  // In other rounds a service finds the events of the long transactions by its look every 10 s.
  if (!options.audit) await world.database.numberEvents();
  await world.starver?.end();
  lap('load and heal');
  const accepted: LedgerLine[] = [];
  const drain = { prefix, load, accepted, isMoved };
  found.push(...(await waitDrained(world, drain)));
  found.push(...(await load.repeatKeyed()));
  found.push(...(await waitDrained(world, drain)));
  lap('drain');
  if (options.audit) {
    found.push(...(await audit(world)));
    lap('audit');
  }
  found.push(...(await transactions.check()), ...(await follower.end(world.database, prefix)));
  lap('feed');
  found.push(
    ...(await world.webhooks.endRound(world.database, starved ? null : faults.length * world.nodes.length)),
  );
  lap('webhooks');
  found.push(...(await world.database.readDeadlocks()).map((text) => `deadlock: ${text}`));
  // Attempts come too early only for a clock of the database that went ahead.
  if (!isMoved) found.push(...checkRetries(world.smtp.putOff(prefix)));
  // No request asked for a message that comes after all this.
  accepted.push(...(await world.smtp.readNew()));
  const rows = await readRows(world, prefix);
  const copiesBefore = world.sentMailbox?.total ?? 0;
  if (world.sentMailbox !== null) {
    found.push(...(await world.sentMailbox.check(world.database, rows, accepted)));
    lap('sent mailbox');
  }
  const unknowable = starved || faults.some((fault) => fault.unknowable);
  const onlySudden = !starved && faults.every((fault) => !fault.unknowable || fault.sudden);
  found.push(...(await checkQueue(world)));
  const findings = checkEvidence({
    exchanges: load.exchanges,
    accepted: accepted.filter((line) => line.token.startsWith(prefix)),
    rows,
    unknowable,
    kills: unknowable && onlySudden ? kills : null,
  });
  found.push(...findings.violations, ...countTwice(accepted, options.acceptances), ...world.deaths.splice(0));
  found.push(...(await checkApi(world.nodes, pair(load, rows, accepted))));
  const violations = await Promise.all(found.map((text) => tellClaims(world, rows, text)));
  for (const node of world.nodes) node.measureMemory();
  lap('read back');
  return {
    round: options.round,
    faults: faults.map(({ name }) => name),
    requests: load.exchanges.length,
    accepted: accepted.length,
    postedAgain: world.webhooks.again,
    copies: (world.sentMailbox?.total ?? 0) - copiesBefore,
    findings,
    claims: subtract(await countClaimEvents(world.database), claimsBefore),
    violations,
    laps,
  };
}

function pickFaults(world: World, random: Random): readonly Fault[] {
  const possible = FAULTS.filter((fault) => fault.possible(world));
  const picked = new Set<Fault>();
  const counts = world.starver === null ? [1, 1, 1, 2, 2, 3] : STARVED_FAULTS;
  for (let count = random.pick(counts); count > 0; count -= 1) picked.add(random.pick(possible));
  return [...picked];
}

function subtract(after: ClaimCounts, before: ClaimCounts): ClaimCounts {
  return Object.fromEntries(
    Object.entries(after).map(([kind, count]) => [kind, count - (before[kind as keyof ClaimCounts] ?? 0)]),
  );
}

async function inject(
  world: World,
  fault: Fault,
  random: Random,
  loadMs: number,
  found: string[],
  kills: number[],
): Promise<void> {
  // The first 50 ms are for connecting.
  await sleep(50 + random.integer(0, loadMs - 100));
  if (fault.sudden) kills.push(Date.now());
  found.push(...(await fault.run(world, random)));
  if (fault.sudden) kills.push(Date.now());
}

async function readRows(world: World, prefix: string): Promise<readonly EmailRow[]> {
  const text = `select id, message_id, state, state_detail, subject from emails where starts_with(subject, $1)`;
  return (await world.database.query(text, [prefix])) as unknown as EmailRow[];
}

/** A finding, with the fate of the claims of the emails that it names. */
async function tellClaims(world: World, rows: readonly EmailRow[], finding: string): Promise<string> {
  const named = rows.filter(
    ({ id, message_id: messageId }) => finding.includes(id) || finding.includes(messageId),
  );
  const claims = await Promise.all(named.map(({ id }) => readClaimEvents(world.database, id)));
  return [finding, ...claims.flat()].join('\n    ');
}

/** Tokens of requests whose email must be in the database: accepted, or answered with a promise. */
function expectedTokens(load: Load, accepted: readonly LedgerLine[], prefix: string): readonly string[] {
  const tokens = new Set(accepted.map(({ token }) => token).filter((token) => token.startsWith(prefix)));
  for (const { request, answers } of load.exchanges) {
    if (answers.some(({ status, code }) => PROMISES.has(status ?? 0) || code.startsWith('send_'))) {
      tokens.add(request.token);
    }
  }
  return [...tokens];
}

const PROMISES: ReadonlySet<number> = new Set([200, 202, 207]);

interface Drain {
  readonly prefix: string;
  readonly load: Load;
  readonly accepted: LedgerLine[];
  /** A fault of the round moved the clock of the database. */
  readonly isMoved: boolean;
}

/**
 * Waits until every expected email is recorded, in a final state, and nothing is left in the spool. Adds messages that were accepted
 * meanwhile. Returns the emails that are missing or not final, and the folders that remain.
 */
async function waitDrained(
  world: World,
  { prefix, load, accepted, isMoved }: Drain,
): Promise<readonly string[]> {
  const left: string[] = [];
  const isDrained = async (): Promise<boolean> => {
    left.length = 0;
    if (isMoved) await world.database.endWaits();
    accepted.push(...(await world.smtp.readNew()));
    const rows = await readRows(world, prefix);
    const recorded = new Set(rows.map((row) => tokenOf(row.subject)));
    for (const token of expectedTokens(load, accepted, prefix)) {
      if (!recorded.has(token)) left.push(`I1 ${token} is not recorded`);
    }
    for (const row of rows) {
      if (!isFinal(row)) left.push(`I5 ${tokenOf(row.subject)} stays ${row.state}`);
    }
    for (const node of world.nodes) {
      for (const name of await node.listSpool()) left.push(`I5 ${node.name}: spool folder ${name} stays`);
    }
    return left.length === 0;
  };
  await waitUntil('everything is stored', isDrained, DRAIN_TIMEOUT_MS).catch(() => undefined);
  return left;
}

/** Over all rounds: emails that should be in the queue and are not, and the other way round. */
async function checkQueue(world: World): Promise<readonly string[]> {
  // A lost email keeps its row: its owner may still come back with evidence.
  const rows = await world.database.query(
    `select e.id, e.state, q.owner, q.lease_until from emails e left join send_queue q on q.email_id = e.id
     where (e.state in ('queued', 'sending', 'deferred')) <> (q.email_id is not null) and e.state <> 'unknown'`,
  );
  return rows.map((row) => `I5 queue and state disagree: ${JSON.stringify(row)}`);
}

/** Ends every service in order, looks at the remains on its disk, and starts it again. */
async function audit(world: World): Promise<readonly string[]> {
  const found: string[] = [];
  const starting: Promise<unknown>[] = [];
  for (const node of world.nodes) {
    const exit = await node.terminate();
    if (exit !== null && exit.code !== 0)
      found.push(`I6 ${node.name} ended with code ${exit.code} when idle`);
    if (world.setup === 'embedded') {
      for (const { command } of findByCommand(join(node.dataDir, 'postgres'))) {
        found.push(`I7 still running after SIGTERM: ${command}`);
      }
    }
    for (const leftover of await node.listLeftovers()) found.push(`I5 left behind: ${leftover}`);
    const start = async () => {
      if (!(await node.start())) throw new Error(`${node.name} does not start after an ordered end`);
    };
    // Meanwhile the next one ends.
    const started = start();
    started.catch(() => undefined);
    starting.push(started);
  }
  await Promise.all(starting);
  await world.database.waitReady();
  return found;
}

/** I3 over all rounds. */
function countTwice(accepted: readonly LedgerLine[], counts: Map<string, number>): readonly string[] {
  return accepted.flatMap(({ messageId }) => {
    const count = (counts.get(messageId) ?? 0) + 1;
    counts.set(messageId, count);
    return count > 1 ? [`I3 ${messageId} was accepted ${count} times`] : [];
  });
}

/** Accepted messages and records, each with the request it came from. */
function pair(load: Load, rows: readonly EmailRow[], accepted: readonly LedgerLine[]) {
  const rowOf = new Map(rows.map((row) => [tokenOf(row.subject), row]));
  const lineOf = new Map(accepted.map((line) => [line.token, line]));
  return load.exchanges.flatMap((exchange) => {
    const row = rowOf.get(exchange.request.token);
    const line = lineOf.get(exchange.request.token);
    return row === undefined || line === undefined ? [] : [{ exchange, row, line }];
  });
}
