/**
 * Read-only statements, executed by a streaming replica (DATABASE_READ_URL). A read asks the primary for the end of its log, and the
 * replica begins when it has replayed the log up to there: by then it has everything that any process committed before the read was
 * requested. So callers read what they wrote, and time never goes backwards, whichever server executes a read.
 *
 * Reads of the same moment share this question, which costs the primary some microseconds. When the replica is behind, away or no replica,
 * the primary executes the read; reads then leave the replica alone for a while, until one of them tries it again.
 */
import pg, { type Pool, type PoolClient, type QueryResult } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../base/basics.ts';
import { createBatches } from './batches.ts';
import { cutAfterTimeout, sharedSettings } from './connection.ts';
import { ReplicaQuery } from './replica-query.ts';
import { call, run, statement, type Executor } from './statement.ts';

/** `untried`: no read has come yet. `other`: not a replica of this primary, or not a replica at all. */
export type ReplicaState = 'untried' | 'used' | 'behind' | 'away' | 'other';

export interface ReplicaFigures {
  readonly state: ReplicaState;
  /** Statements since the start. */
  readonly byReplica: number;
  readonly byPrimary: number;
}

export interface ReplicaReads extends Executor {
  figures(): ReplicaFigures;
  /** Tries the replica now. Throws the reason if reads would not use it. */
  check(): Promise<void>;
}

export interface ReplicaReadsOptions {
  readonly primary: Pool;
  readonly replica: Pool;
  /** How long a read waits for the replica to catch up with the primary, in ms. */
  readonly maxLagMs: number;
  /** Milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Questions for the position under way at the same moment: with only one, a read would wait for up to two of them. */
const POSITIONS_AT_ONCE = 2;

/** After this time without an answer, in ms, the read asks the primary as well: a network that drops packets reports nothing. */
const PATIENCE_MS = 2000;

/**
 * How long reads leave the replica alone, in ms. A replica that is behind catches up soon, or not at all; one that is away is tried ever
 * more rarely.
 */
const REST_MS = { behind: 250, other: 30_000, away: 1000 } as const;
const MAX_REST_MS = 30_000;

interface Asked {
  readonly answer: Promise<QueryResult>;
  readonly result: QueryResult | null;
}

type Question = Parameters<Executor['query']>[0];
type Fault = Exclude<ReplicaState, 'untried' | 'used'>;

/** Another server, whose positions mean something else. */
class OtherServerError extends Error {
  constructor() {
    super('DATABASE_READ_URL is no replica of the server of DATABASE_URL');
    this.name = 'OtherServerError';
  }
}

export function createReplicaReads(options: ReplicaReadsOptions): ReplicaReads {
  const { primary, replica, maxLagMs, now, logger } = options;
  const counts = { byReplica: 0, byPrimary: 0 };
  let state: ReplicaState = 'untried';
  /** Faults in a row. */
  let faults = 0;
  let restUntil = Number.NEGATIVE_INFINITY;
  let isTrying = false;

  const readPosition = createBatches<null, string>(
    {
      name: 'replica-position',
      items: Infinity,
      bytes: Infinity,
      failTogether: true,
      atOnce: POSITIONS_AT_ONCE,
      collectsTurn: true,
    },
    () => 0,
    async (asked) => {
      const [row] = await run(primary, POSITION);
      return asked.map(() => row?.position ?? '');
    },
  );
  const prepared = new WeakSet<PoolClient>();

  async function carryOut(client: PoolClient, question: Question, position: string): Promise<QueryResult> {
    const { name, text, values } = call(AWAIT_REPLAY, { position, patienceMs: maxLagMs });
    const settings = sharedSettings(client);
    if (settings === null && !prepared.has(client)) {
      await run(client, AWAIT_REPLAY, { position: '0/0', patienceMs: 0 });
      prepared.add(client);
    }
    const query = new ReplicaQuery(question, {
      precondition: { name, text, values: values.map(String) },
      settings,
    });
    return await new Promise((resolve, reject) => {
      query.callback = (error, result) => {
        if (!error) return resolve(result as QueryResult);
        cutAfterTimeout(client as PoolClient & { end(): Promise<void> }, error);
        reject(error);
      };
      client.query(query as unknown as pg.Submittable);
    });
  }

  /** @param signal cuts the connection */
  async function onReplica(question: Question, position: string, signal: AbortSignal): Promise<QueryResult> {
    const client = await replica.connect();
    let isLent = true;
    const giveBack = (isBroken: boolean) => {
      if (isLent) client.release(isBroken);
      isLent = false;
    };
    const cut = () => giveBack(true);
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      return await carryOut(client, question, position);
    } finally {
      signal.removeEventListener('abort', cut);
      giveBack(false);
    }
  }

  /** A position of another cluster would be taken for a position of this one. */
  async function compareServers(): Promise<void> {
    const [[own], [other]] = await Promise.all([run(primary, SERVER), run(replica, SERVER)]);
    if (own?.server !== other?.server) throw new OtherServerError();
  }

  function mayTry(): boolean {
    if (state === 'used') return true;
    return !isTrying && now() >= restUntil;
  }

  function noteUse(): void {
    if (state !== 'used' && state !== 'untried') logger.info({}, 'the replica serves reads again');
    state = 'used';
    faults = 0;
  }

  function noteFault(fault: Fault, err: unknown): void {
    // Of many reads at the same moment, the first one reports it.
    const isNew = state !== fault;
    if (!isNew && now() < restUntil) return;
    faults += 1;
    restUntil = now() + Math.min(REST_MS[fault] * (fault === 'away' ? 2 ** (faults - 1) : 1), MAX_REST_MS);
    if (isNew) logger.warn({ err, replica: fault }, 'the replica serves no reads; the primary does');
    state = fault;
  }

  /** null: the primary has to execute it. Throws when the replica was asked, was late, and both servers failed. */
  async function tryReplica(question: Question): Promise<QueryResult | null> {
    const isTrial = state !== 'used';
    if (isTrial) isTrying = true;
    const giveUp = new AbortController();
    try {
      const asked = await askReplica(question, isTrial, giveUp.signal);
      return asked?.result === null
        ? await fromEither(question, asked.answer, giveUp)
        : (asked?.result ?? null);
    } finally {
      if (isTrial) isTrying = false;
    }
  }

  /** null: the replica is not to be used, or has failed. A result of null: it is late, and `answer` is still to come. */
  async function askReplica(
    question: Question,
    isTrial: boolean,
    signal: AbortSignal,
  ): Promise<Asked | null> {
    try {
      const position = await readPosition(null).catch(() => null);
      if (position === null) return null;
      if (isTrial) await within(PATIENCE_MS, compareServers());
      const answer = onReplica(question, position, signal);
      const result = await within(PATIENCE_MS, answer).catch((error: unknown) => {
        if (error instanceof LateError) return null;
        throw error;
      });
      if (result !== null) noteRead();
      return { answer, result };
    } catch (error) {
      const fault = faultOf(error);
      if (fault !== null) noteFault(fault, error);
      return null;
    }
  }

  function noteRead(): void {
    noteUse();
    counts.byReplica += 1;
  }

  /**
   * The statement may be slow, or the replica gone without a word: the first result of the two servers counts. When both fail, the
   * statement is at fault, or both servers are: the error is that of the primary, as without a replica.
   */
  async function fromEither(
    question: Question,
    answer: Promise<QueryResult>,
    giveUp: AbortController,
  ): Promise<QueryResult> {
    const own = primary.query(question);
    const first = await Promise.any([
      answer.then((result) => ({ result, isByReplica: true })),
      own.then((result) => ({ result, isByReplica: false })),
    ]).catch(() => null);
    if (first?.isByReplica === true) {
      noteRead();
      return first.result;
    }
    giveUp.abort(new LateError());
    counts.byPrimary += 1;
    if (first === null) return await own;
    noteFault('away', new LateError());
    return first.result;
  }

  return {
    async query(question) {
      const answer = mayTry() ? await tryReplica(question) : null;
      if (answer !== null) return answer;
      counts.byPrimary += 1;
      return await primary.query(question);
    },

    figures: () => ({ state, ...counts }),

    async check() {
      try {
        await compareServers();
        const { text, values } = call(ALIVE);
        const position = await readPosition(null);
        await onReplica({ text, values: [...values] }, position, AbortSignal.timeout(PATIENCE_MS));
        noteUse();
      } catch (error) {
        const fault = faultOf(error);
        if (fault !== null) noteFault(fault, error);
        throw error;
      }
    },
  };
}

class LateError extends Error {
  constructor() {
    super(`the replica gave no answer within ${PATIENCE_MS} ms`);
    this.name = 'LateError';
  }
}

/** The result of `work`; throws LateError when it takes longer than `ms` milliseconds. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** null: a fault of the statement or of the moment, as when replay had to end the statement; another statement may work. */
function faultOf(error: unknown): Fault | null {
  if (error instanceof OtherServerError) return 'other';
  const cause = error instanceof ServiceError ? error.cause : error;
  const code = cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
  if (code === 'EW001') return 'behind';
  if (code === 'EW002') return 'other';
  return /^(?:22|40)/.test(code) ? null : 'away';
}

/** With `synchronous_commit` off, others see changes that are not on the disk yet, and so not on their way to the replica. */
const POSITION = statement(
  'replica-position',
  `select (case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
    else pg_current_wal_flush_lsn() end)::text as position`,
).narrow<{ position: string }>();

const AWAIT_REPLAY = statement(
  'await-replay',
  'select await_replay($position::text::pg_lsn, $patienceMs) as done',
);

const ALIVE = statement('replica-alive', 'select 1 as alive');

const SERVER = statement(
  'server-identity',
  'select system_identifier::text as server from pg_control_system()',
).narrow<{
  server: string;
}>();
