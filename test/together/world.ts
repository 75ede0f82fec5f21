/**
 * A workload that does everything at once, with a mail server that returns copies at the moment it takes an email. The operations follow
 * from the seed; their order does not.
 */
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createReparseStore } from '../../src/areas/receive/reparse-store.ts';
import { reparse } from '../../src/areas/receive/reparse.ts';
import { importMail, zeroCounts } from '../../src/areas/import/import-mail.ts';
import { createImportMarks } from '../../src/areas/import/import-marks.ts';
import { createMailFiles } from '../../src/connectors/mail-files/mail-files.ts';
import { createMessageStore } from '../helpers/mail-stores.ts';
import type { OpenData } from '../../src/service/open-data.ts';
import { createRandom, type Random } from '../crash/random.ts';
import { complaint, deliveryReport } from '../helpers/bounce-mail.ts';
import { mail } from '../helpers/inbound-mail.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { ACCOUNTS, startParts, type Account, type Parts } from './parts.ts';

const CUSTOMERS = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
const COMPANIES = [8, 9].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
const PEOPLE = ['ada@acme.test', 'bob@acme.test', 'cid@mail.acme.test', 'eve@other.test', 'fay@other.test'];
/** No mail comes from these addresses: emails to them bounce. */
const DEAD = ['gone@dead.test', 'left@dead.test'];
const DOMAINS = ['acme.test', '*.acme.test', 'other.test', '*.test'];
const SLOTS = 24;

/** One email of the outside world, which may arrive often and by several ways. */
interface Slot {
  readonly word: string;
  readonly account: Account;
  readonly raw: string;
  readonly isSent: boolean;
}

export interface GivenEmail {
  readonly id: string;
  readonly account: Account;
  /** With angle brackets. */
  readonly messageId: string;
}

export interface World {
  readonly pool: pg.Pool;
  /** Faults found; must stay empty. */
  readonly failures: string[];
  /** All thread ids ever given out, valid for ever. */
  readonly threads: ReadonlySet<string>;
  readonly emails: ReadonlyMap<string, GivenEmail>;
  /** Emails of the service's own sends. */
  readonly sends: readonly GivenEmail[];
  readonly words: ReadonlySet<string>;
  readonly data: OpenData;
  run(operations: number, atOnce: number): Promise<void>;
  /** A request to the first or the second service, `service` 0 or 1. */
  request(
    service: number,
    path: string,
    init?: { method?: string; json?: unknown; raw?: string },
  ): Promise<Answer>;
  /** Lets the mailbox readers take all waiting mail. */
  settleMailboxes(): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Expected refusals, as the requests are made without looking first. */
const REFUSALS = new Set([
  'thread_not_found',
  'email_not_found',
  'suppression_not_found',
  'email_not_in_thread',
  'different_accounts',
  'thread_would_be_empty',
  'not_cancellable',
  'not_retryable',
  'not_unknown',
  'recipient_suppressed',
  'loop_suspected',
  'busy',
]);

export async function startWorld(database: TestDatabase, seed: number): Promise<World> {
  return createWorld(await startParts(database), createRandom(seed));
}

function createWorld(parts: Parts, random: Random): World {
  const { failures, folder, pool, sink, services, data, boxes, nodes } = parts;
  const threads = new Set<string>();
  const threadList: string[] = [];
  const emails = new Map<string, GivenEmail>();
  const sends: GivenEmail[] = [];
  const words = new Set<string>();
  const slots: Slot[] = [];
  let made = 0;

  /** A word of letters only, and not a prefix of another one. */
  const newWord = () => {
    made += 1;
    const text = [...String(made).padStart(5, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('a');
    words.add(`wq${text}z`);
    return `wq${text}z`;
  };

  async function request(
    service: number,
    path: string,
    { method, json, raw }: { method?: string; json?: unknown; raw?: string } = {},
  ): Promise<Answer> {
    const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
    const response = await fetch(`${services[service]!.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${TEST_SECRET}`,
        ...(body === undefined
          ? {}
          : { 'content-type': raw === undefined ? 'application/json' : 'message/rfc822' }),
        ...(path === '/api/send' && random.chance(0.3) ? { prefer: 'respond-async' } : {}),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : { text },
    };
  }

  async function ask(
    path: string,
    init: { method?: string; json?: unknown; raw?: string } = {},
  ): Promise<Answer> {
    const answer = await request(random.integer(0, 1), path, init);
    const { status, body } = answer;
    if (status >= 207 && !REFUSALS.has(String(body['code']))) {
      failures.push(
        `${init.method ?? ''} ${path} ${JSON.stringify(init.json ?? '')}: ${status} ${JSON.stringify(body)}`,
      );
    }
    return answer;
  }

  function keep(account: Account, body: Record<string, unknown>): GivenEmail {
    const email = { id: String(body['id']), account, messageId: String(body['messageId']) };
    emails.set(email.id, email);
    keepThread(String(body['threadId']));
    return email;
  }
  function keepThread(id: string) {
    if (!threads.has(id)) threadList.push(id);
    threads.add(id);
  }

  const anyEmail = () => (emails.size === 0 ? null : random.pick([...emails.values()]));
  const anyThread = () => (threadList.length === 0 ? null : random.pick(threadList));
  /** Message-IDs of existing emails, of slots, and of no email. */
  const anyMessageId = (account: Account) => {
    const known = [...emails.values()].filter((email) => email.account === account);
    if (known.length > 0 && random.chance(0.5)) return random.pick(known).messageId;
    return `<slot${random.integer(0, SLOTS + 3)}@customer.test>`;
  };

  function makeSlot(index: number): Slot {
    const account = random.pick(ACCOUNTS);
    const isSent = random.chance(0.2);
    const own = account === 'default' ? 'sales@example.com' : 'help@example.com';
    const person = random.pick(PEOPLE);
    const word = newWord();
    const count = random.integer(0, 3);
    const references = Array.from({ length: count }, () => anyMessageId(account));
    return {
      word,
      account,
      isSent,
      raw: mail({
        // Occasionally two slots share one Message-ID.
        messageId: `<slot${random.chance(0.1) ? random.integer(0, index) : index}@customer.test>`,
        from: isSent ? own : person,
        to: isSent ? person : own,
        date: new Date(Date.now() - random.integer(0, 5) * 86_400_000).toUTCString(),
        subject: `${random.chance(0.3) ? 'Re: ' : ''}${random.pick(['Angebot', 'Rechnung', 'Lieferung'])}${random.chance(0.5) ? ` ${index}` : ''}`,
        ...(references.length > 0 ? { references } : {}),
        ...(random.chance(0.4) ? { inReplyTo: anyMessageId(account) } : {}),
        body: `Guten Tag ${word}`,
      }),
    };
  }

  async function giveIn(account: Account, raw: string, isSent: boolean): Promise<GivenEmail | null> {
    const way = random.integer(0, 9);
    if (way < 2) {
      const box = boxes.get(account)!;
      (isSent ? box.sent : box.inbox).add(raw);
      return null;
    }
    const { status, body } = await ask(
      `/api/inbound?account_id=${account}${isSent ? '&sent=true' : random.chance(0.2) ? '&read=true' : ''}`,
      { raw },
    );
    return status === 200 ? keep(account, body) : null;
  }

  /** Gives the email back as others have it: unchanged, or with the relay's Message-ID. */
  async function giveBack(account: Account, sent: string): Promise<void> {
    const [, id = ''] = /^Message-ID: <([^>]*)>/im.exec(sent) ?? [];
    // A relay either replaces the Message-ID of an email or does not.
    const isRewritten = /\.[0-3]/.test(id);
    const copy = isRewritten ? sent.replace(`<${id}>`, `<${id.split('@')[0]}@relay.test>`) : sent;
    await giveIn(account, copy, isRewritten || random.chance(0.7));
  }

  async function send(): Promise<void> {
    const account = random.pick(ACCOUNTS);
    const word = newWord();
    const threadId = random.chance(0.25) ? anyThread() : null;
    const to = [
      random.pick(random.chance(0.25) ? DEAD : PEOPLE),
      ...(random.chance(0.2) ? [random.pick(PEOPLE)] : []),
    ];
    const { status, body } = await ask('/api/send', {
      json: {
        to,
        subject: `Nachricht ${word}`,
        text_body: 'Hallo',
        ...(threadId === null ? { account_id: account } : { thread_id: threadId }),
        ...(threadId === null && random.chance(0.4) ? { in_reply_to: anyMessageId(account) } : {}),
        ...(random.chance(0.4) ? { customer_id: random.pick(CUSTOMERS) } : {}),
        ...(random.chance(0.2) ? { company_id: random.pick(COMPANIES) } : {}),
      },
    });
    if (status >= 300) return;
    const { rows } = await pool.query<{ account_id: Account }>(
      'select account_id from emails where id = $1',
      [body['id']],
    );
    const email = keep(rows[0]?.account_id ?? account, body);
    sends.push(email);
    if (!to.some((address) => DEAD.includes(address)) || random.chance(0.4)) return;
    const dead = to.filter((address) => DEAD.includes(address));
    const reports = dead.map((address) => ({ address, status: random.pick(['5.1.1', '4.2.2']) }));
    const raw = random.chance(0.2)
      ? complaint(email.messageId, dead[0]!)
      : deliveryReport(email.messageId, reports);
    await giveIn(email.account, raw, false);
  }

  async function decide(): Promise<void> {
    const thread = anyThread();
    const email = anyEmail();
    if (thread === null || email === null) return;
    const kind = random.pick(['split', 'split', 'merge', 'move'] as const);
    let target = thread;
    if (kind === 'split') {
      const { status, body } = await ask(`/api/emails/${email.id}`);
      if (status !== 200) return;
      target = String(body['thread_id'] ?? body['threadId']);
    }
    const answer = await ask(`/api/thread/${target}/${kind}`, {
      json: kind === 'merge' ? { thread_id: anyThread() } : { email_ids: [email.id] },
    });
    if (answer.status === 200) keepThread(String(answer.body['thread_id']));
  }

  async function reparseSome(): Promise<void> {
    const email = random.chance(0.7) ? anyEmail() : null;
    if (email !== null && random.chance(0.5)) {
      // As an older parser could have recorded it.
      await pool
        .query(
          `update emails set subject = 'unlesbar', in_reply_to = '{}' where id = $1 and identity_key is not null`,
          [email.id],
        )
        .catch(() => undefined);
    }
    await reparse(
      {
        store: createReparseStore(data.pool),
        messages: createMessageStore(data.pool),
        accounts: new Map(),
        blobs: data.blobs,
        spool: data.spool,
        openFile: (file, range) => createReadStream(file, range),
        ids: data.ids,
        reader: data.reader,
        unreadable: data.unreadable,
        logger: silentLogger,
      },
      {
        filter: { emailId: email?.id ?? null, accountId: null, defect: null, since: null },
        after: null,
        dryRun: false,
        signal: new AbortController().signal,
        onEmail: (id, outcome) => {
          if (outcome.kind === 'failed') failures.push(`reparse ${id}: ${outcome.reason}`);
        },
      },
    );
  }

  async function importSome(): Promise<void> {
    const path = join(folder.path, `import-${(made += 1)}`);
    await mkdir(path);
    const account = random.pick(ACCOUNTS);
    const chosen = slots.filter((slot) => slot?.account === account && !slot.isSent && random.chance(0.5));
    for (const [index, slot] of chosen.entries()) await writeFile(join(path, `${index}.eml`), slot.raw);
    const counts = zeroCounts();
    await importMail(
      {
        files: createMailFiles(),
        marks: createImportMarks(data.pool),
        receive: data.receiveMessage,
        reader: data.reader,
        openFile: (file) => createReadStream(file),
        spool: data.spool,
        logger: silentLogger,
        maxBytes: 1_000_000,
        patienceMs: 10_000,
      },
      { paths: [path], accountId: account, as: 'received', isUnread: random.chance(0.5), since: null },
      {
        advanced: () => undefined,
        failed: ({ reason }) => failures.push(`import: ${reason}`),
        empty: (file) => failures.push(`import: ${file} is empty`),
        waiting: () => undefined,
      },
      counts,
      new AbortController().signal,
    );
  }

  const operations: readonly (readonly [number, string, () => Promise<unknown>])[] = [
    [22, 'send', send],
    [
      28,
      'receive',
      async () => {
        const index = random.integer(0, SLOTS - 1);
        const slot = (slots[index] ??= makeSlot(index));
        await giveIn(slot.account, slot.raw, slot.isSent || random.chance(0.05));
      },
    ],
    [
      10,
      'copy',
      async () => {
        const sent = sends.length === 0 ? null : random.pick(sends);
        const message = sent === null ? undefined : sink.byMessageId(sent.messageId)[0];
        if (sent !== null && message !== undefined) await giveBack(sent.account, message.raw.toString());
      },
    ],
    [12, 'decide', decide],
    [
      6,
      'rules',
      async () =>
        ask(`/api/customer/${random.pick(CUSTOMERS)}/addresses`, {
          method: 'PUT',
          json: {
            addresses: PEOPLE.filter(() => random.chance(0.3)),
            domains: DOMAINS.filter(() => random.chance(0.3)),
            ...(random.chance(0.5) ? { company_id: random.pick(COMPANIES) } : {}),
          },
        }),
    ],
    [
      8,
      'mark',
      async () => {
        const thread = anyThread();
        if (thread !== null)
          await ask(`/api/thread/${thread}/${random.pick(['read', 'unread'])}`, { method: 'POST' });
      },
    ],
    [
      3,
      'suppress',
      async () =>
        ask(`/api/suppressions/${random.pick(DEAD)}`, { method: random.pick(['PUT', 'DELETE', 'DELETE']) }),
    ],
    [
      4,
      'operate',
      async () => {
        const email = anyEmail();
        if (email !== null)
          await ask(`/api/emails/${email.id}/${random.pick(['cancel', 'retry'])}`, { method: 'POST' });
      },
    ],
    [3, 'reparse', reparseSome],
    [2, 'import', importSome],
    [
      2,
      'rethread',
      async () =>
        data.rethread({
          dryRun: false,
          signal: new AbortController().signal,
          onChanges: () => undefined,
          onProgress: () => undefined,
        }),
    ],
    [
      6,
      'list',
      async () => ask(random.pick(['/api/threads', '/api/threads?unread=true', '/api/emails?q=angebot'])),
    ],
  ];
  const total = operations.reduce((sum, [weight]) => sum + weight, 0);

  async function runOne(): Promise<void> {
    let at = random.next() * total;
    const [, name, work] = operations.find(([weight]) => (at -= weight) < 0) ?? operations[0]!;
    try {
      await work();
    } catch (error) {
      failures.push(
        `${name}: ${error instanceof Error ? `${error.stack} ${String(error.cause)}` : String(error)}`,
      );
    }
  }

  const copies: Promise<void>[] = [];
  parts.taken.tell = (raw) => {
    if (!random.chance(0.3)) return;
    const account = /^From:.*help@/m.test(raw) ? 'other' : 'default';
    copies.push(
      giveBack(account, raw).catch((error: unknown) => void failures.push(`copy: ${String(error)}`)),
    );
  };

  return {
    pool,
    failures,
    threads,
    emails,
    sends,
    words,
    data,
    request,
    async run(count, atOnce) {
      let left = count;
      const worker = async () => {
        while (left > 0) {
          left -= 1;
          await runOne();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      await Promise.all(copies);
    },
    async settleMailboxes() {
      const deadline = Date.now() + 20_000;
      const wanted = [...boxes]
        .flatMap(([, box]) => [box.inbox, box.sent])
        .reduce((sum, box) => sum + box.messages.size, 0);
      for (;;) {
        const { rows } = await pool.query<{ count: number }>(
          'select count(*)::int as count from mailbox_messages where email_id is not null',
        );
        if (rows[0]!.count >= wanted) return;
        if (Date.now() > deadline) {
          failures.push(`mailboxes: ${rows[0]!.count} of ${wanted} taken`);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      await data.close();
      await Promise.all(services.map((service) => service.stop()));
      await sink.stop();
      await pool.end();
      await folder.remove();
    },
  };
}
