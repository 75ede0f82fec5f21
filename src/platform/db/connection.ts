/** A connection of the pool: the notices that it got, whether it has a session to itself, and the workaround where it has none. */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import {
  introduction,
  transactionSettings,
  type Pooler,
  type SessionOptions,
  type TransactionSettings,
} from './session.ts';
import { SharedQuery } from './shared-query.ts';

/** The prefix of notices from our own functions and triggers. */
const OWN_NOTICE = 'email-worker: ';
/** The notice of the trigger of `event_inbox`. */
export const EVENTS_NOTICE = `${OWN_NOTICE}events`;

/** Connection → our notices since they were last taken. Any connection may get them, even the first. */
const notices = new WeakMap<pg.ClientBase, Set<string>>();

function toldOf(client: pg.ClientBase): Set<string> {
  const told = notices.get(client) ?? new Set();
  notices.set(client, told);
  return told;
}

/** Acts as if the server had sent the notice on this connection. */
export function addNotice(client: pg.ClientBase, text: string): void {
  toldOf(client).add(text);
}

/** The texts of our notices that a connection has got, each once. Taking them clears them. */
export function takeNotices(client: pg.ClientBase): ReadonlySet<string> {
  const told = toldOf(client);
  if (told.size > 0) notices.delete(client);
  return told;
}

/** pg's own error after `query_timeout`: the server did not even report that it cancelled the statement. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Cuts a connection that owes an answer: its next borrower would wait behind the statement. @param error the error that a query threw */
export function cutAfterTimeout(client: pg.ClientBase & { end(): Promise<void> }, error: unknown): void {
  // `end` never rejects; the caller gets the error of the statement.
  if (isReadTimeout(error)) client.end().catch(() => undefined);
}

/** Either a session of its own, which has this mark; or sessions shared with others, with settings for each transaction. */
export type Session =
  { readonly mark: string } | { readonly mark: null; readonly settings: TransactionSettings };

/** Connection → its session, once the connection was introduced. */
const sessions = new WeakMap<pg.ClientBase, Session>();

/** null before the connection was introduced, and for one that is not of `createPool`. */
export const sessionOf = (client: pg.ClientBase): Session | null => sessions.get(client) ?? null;

/** The settings that each transaction of the connection brings along; null: they are set in its session. */
export function sharedSettings(client: pg.ClientBase): TransactionSettings | null {
  const session = sessions.get(client);
  return session === undefined || session.mark !== null ? null : session.settings;
}

/** Must run before any other query on a connection. Throws when the server does not answer within `timeoutMs`. */
export async function introduce(
  client: pg.ClientBase,
  options: SessionOptions,
  pooler: Pooler,
  timeoutMs: number,
): Promise<void> {
  const shared: Session = { mark: null, settings: transactionSettings(options) };
  if (pooler === 'transaction') {
    sessions.set(client, shared);
    return;
  }
  const mark = randomUUID();
  const { processID } = client as pg.ClientBase & { readonly processID: number | null };
  try {
    const { rows } = await client.query<{ is_shared: boolean }>({
      text: introduction(options, mark),
      values: [processID ?? 0, pooler === 'none'],
      query_timeout: timeoutMs,
    } as pg.QueryConfig);
    sessions.set(client, rows[0]?.is_shared === true ? shared : { mark });
  } catch (error) {
    if (isReadTimeout(error)) {
      throw new Error('Connection terminated due to connection timeout', { cause: error });
    }
    throw error;
  }
}

/** A connection that is safe to lend out: its failures reach only its borrower. */
export class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    // The connection may break between two statements, and twice. The statement under way, or the next one, is rejected; without a listener
    // the event would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ message }) => {
      if (message?.startsWith(OWN_NOTICE) === true) toldOf(this).add(message);
    });
    const ownQuery = this.query.bind(this) as unknown as (...args: readonly unknown[]) => unknown;
    const query = (...args: readonly unknown[]): unknown => {
      const settings = sharedSettings(this);
      const isSubmittable = typeof (args[0] as Partial<pg.Submittable> | null)?.submit === 'function';
      if (settings === null || isSubmittable) return ownQuery(...args);
      const shared = new SharedQuery(this, settings, args);
      if (shared.callback !== undefined) return ownQuery(shared);
      return new Promise((resolve, reject) => {
        shared.callback = (error, result) => (error ? reject(error) : resolve(result));
        ownQuery(shared);
      });
    };
    const queryWithCut = (...args: readonly unknown[]): unknown => {
      const result = query(...args);
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          cutAfterTimeout(this, error);
        });
      }
      return result;
    };
    Object.assign(this, { query: queryWithCut });
  }
}

/** Connections of a pool whose work may be ended from outside. */
export function createCuttable(signal: AbortSignal): typeof Connection {
  return class extends Connection {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const { stream } = (this as unknown as { connection: { stream: Duplex } }).connection;
      const cut = () => stream.destroy(new Error('Connection terminated: the work was stopped'));
      if (signal.aborted) cut();
      else signal.addEventListener('abort', cut, { once: true });
      stream.once('close', () => signal.removeEventListener('abort', cut));
    }
  };
}
