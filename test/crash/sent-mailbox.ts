/**
 * The Sent mailbox of the account under test: a real Dovecot behind a line that can break, and the promise of decision 0030, that each sent
 * email is in it once. Messages are found by UID, so a copy that comes rounds later still counts as a second one.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { EmailRow } from './check.ts';
import type { Database } from './database.ts';
import type { LedgerLine } from './smtp-counter.ts';
import { watchImap } from './stream-watchers.ts';
import { TcpProxy } from './tcp-proxy.ts';

const USER = 'alice';
const PATH = 'Sent';
/** Covers work that was put off while the server was away, and leases of processes that were killed. */
const QUIET_TIMEOUT_MS = 90_000;

/** Longer than any fault stops a process or a database: a process that outlives its lease during an APPEND may store a second copy. */
const TIMEOUTS = { IMAP_LEASE_MS: '5000', IMAP_POLL_MS: '1000' };

interface Copies {
  count: number;
  readonly sha256: string;
}

export class SentMailbox {
  readonly #dovecot: DovecotServer;
  readonly #copies = new Map<string, Copies>();
  #nextUid = 1;
  #running = true;
  readonly line: TcpProxy;
  /** Environment of each service. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(dovecot: DovecotServer, line: TcpProxy, port: number) {
    this.#dovecot = dovecot;
    this.line = line;
    const url = dovecot.urlOf(USER).replace(`:${dovecot.imapPort}`, `:${port}`);
    this.env = {
      ...TIMEOUTS,
      IMAP_URL: `${url}&connect_timeout_ms=1500&command_timeout_ms=1500`,
      IMAP_SENT: PATH,
      IMAP_SENT_COPIES: 'on',
      // A copy bears the database's time, and a clock fault may put it before the day from which a mailbox is read by default.
      IMAP_SINCE: '2000-01-01',
    };
  }

  /** null where Dovecot is not installed. */
  static async start(): Promise<SentMailbox | null> {
    if (skipWithoutMailServers()) return null;
    const dovecot = await startDovecot();
    await dovecot.withClient(USER, (client) => client.mailboxCreate(PATH));
    const line = new TcpProxy(watchImap);
    const port = await line.start();
    line.target = { host: '127.0.0.1', port: dovecot.imapPort };
    return new SentMailbox(dovecot, line, port);
  }

  async kill(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    await this.#dovecot.kill();
  }

  /** Faults of one round overlap: a running server is not started a second time. */
  async restart(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    await this.#dovecot.start();
  }

  async stop(): Promise<void> {
    await this.line.stop();
    await this.#dovecot.stop();
  }

  /** Copies of all rounds, as far as they have been read. */
  get total(): number {
    return [...this.#copies.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Waits until no copy waits and the service has read all of them; returns the emails that are not in the mailbox exactly once. */
  async check(
    database: Database,
    rows: readonly EmailRow[],
    accepted: readonly LedgerLine[],
  ): Promise<readonly string[]> {
    const found: string[] = [];
    await waitUntil(
      'no copy waits',
      async () => (await countWaiting(database)) === 0,
      QUIET_TIMEOUT_MS,
    ).catch(async () => found.push(`I10 copies still wait: ${await tellOpen(database)}`));
    if ((await countFailed(database)) > 0) {
      found.push(`I10 copies were given up: ${await tellOpen(database)}`);
      // As an operator does: the next rounds begin without them.
      await database.query(RETRY_FAILED);
    }
    await this.#readNew();
    const { total } = this;
    await waitUntil(
      'the copies were read',
      async () => (await countRead(database)) >= total,
      QUIET_TIMEOUT_MS,
    ).catch(async () => {
      const read = await countRead(database);
      found.push(`I10 ${read} of ${total} copies were read: ${await tellUnread(database)}`);
    });

    const sha256Of = new Map(accepted.map(({ messageId, sha256 }) => [messageId, sha256]));
    for (const { message_id: id, state } of rows) {
      const copies = this.#copies.get(`<${id}>`);
      const [count, due] = [copies?.count ?? 0, state === 'sent' ? 1 : 0];
      if (count !== due) found.push(`I10 ${id} is ${state}, and ${count} times in the Sent mailbox`);
      const sent = sha256Of.get(`<${id}>`);
      if (copies !== undefined && sent !== undefined && copies.sha256 !== sent)
        found.push(`I10 the copy of ${id} is not what was sent`);
    }
    for (const [id, { count }] of this.#copies) {
      if (count > 1) found.push(`I10 ${id} is ${count} times in the Sent mailbox`);
    }
    return [...found, ...(await findSecondRecords(database))];
  }

  async #readNew(): Promise<void> {
    const { uidNext, sources } = await this.#fetchNew();
    for (const source of sources) {
      const id = /^Message-ID:\s*(<[^>]+>)/im.exec(source.toString('latin1'))?.[1] ?? '';
      const known = this.#copies.get(id);
      if (known !== undefined) known.count += 1;
      else this.#copies.set(id, { count: 1, sha256: createHash('sha256').update(source).digest('hex') });
    }
    this.#nextUid = uidNext;
  }

  /** A server that was killed refuses commands until it has repaired its mailbox. */
  async #fetchNew(): Promise<{ readonly uidNext: number; readonly sources: readonly Buffer[] }> {
    const end = Date.now() + QUIET_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#dovecot.withClient(USER, async (client) => {
          const { uidNext } = await client.mailboxOpen(PATH, { readOnly: true });
          const sources: Buffer[] = [];
          if (uidNext <= this.#nextUid) return { uidNext: this.#nextUid, sources };
          const range = `${this.#nextUid}:${uidNext - 1}`;
          for await (const { source } of client.fetch(range, { source: true }, { uid: true })) {
            if (source === undefined) throw new Error('a copy without its bytes');
            sources.push(source);
          }
          return { uidNext, sources };
        });
      } catch (error) {
        if (Date.now() > end) throw error;
        await wait(500);
      }
    }
  }
}

/**
 * Copies that wait for a minute after a failure become due now, as if that minute were over; copies that a process has in hand are left to
 * it.
 */
async function countWaiting(database: Database): Promise<number> {
  await database.query(
    `update sent_copies set due_at = now() where state = 'pending' and claim_id is null and due_at > now()`,
  );
  const [row] = await database.query(`select count(*)::int as n from sent_copies where state = 'pending'`);
  return Number(row?.['n']);
}

async function countFailed(database: Database): Promise<number> {
  const [row] = await database.query(`select count(*)::int as n from sent_copies where state = 'failed'`);
  return Number(row?.['n']);
}

const RETRY_FAILED = `update sent_copies
  set state = 'pending', ended_at = null, give_up_at = default, due_at = now() where state = 'failed'`;

async function tellOpen(database: Database): Promise<string> {
  return JSON.stringify(
    await database.query(
      `select email_id, state, tries, due_at, give_up_at, ended_at, last_error, now() from sent_copies where state <> 'stored' limit 5`,
    ),
  );
}

/** Includes messages that are put off, as if their time had come. */
async function countRead(database: Database): Promise<number> {
  await database.query(
    'update mailbox_messages set next_try_at = now() where email_id is null and next_try_at > now()',
  );
  const [row] = await database.query(
    `select count(distinct m.uid)::int as n from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
     where b.path = '${PATH}' and m.email_id is not null`,
  );
  return Number(row?.['n']);
}

/** What is known of messages that were not read, and what the database is doing: it shows whether they wait for a lock. */
async function tellUnread(database: Database): Promise<string> {
  const messages = await database.query(
    `select m.uid_validity, m.uid, m.tries, m.next_try_at, m.last_error, m.quarantined_at, m.expunged_at
     from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
     where b.path = '${PATH}' and (m.email_id is null or m.expunged_at is not null) order by m.uid desc limit 5`,
  );
  const mailboxes = await database.query(
    `select b.path, b.uid_validity, b.uid_next, b.message_count, b.last_success_at, b.last_error, b.last_error_at,
       (select count(*) from mailbox_messages m where m.mailbox_id = b.id) as known
     from mailboxes b`,
  );
  const accounts = await database.query(
    'select owner, lease_until, last_attempt_at, next_attempt_at, last_error, now() from mailbox_accounts',
  );
  const sessions = await database.query(
    `select pid, pg_blocking_pids(pid) as blocked_by, state, wait_event, xact_start, query_start, left(query, 80) as query
     from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() order by xact_start limit 10`,
  );
  return JSON.stringify({ messages, mailboxes, accounts, sessions });
}

/** A copy must be recognised as the email that was sent. */
async function findSecondRecords(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    `select e.id, e.message_id, e.direction from emails e where e.direction = 'inbound'
     union all select email_id, null, 'variant' from email_variants`,
  );
  return rows.map((row) => `I10 a copy has a record of its own: ${JSON.stringify(row)}`);
}
