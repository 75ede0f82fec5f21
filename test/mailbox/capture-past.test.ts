/** What the rules of an account would leave out of what is recorded, and its removal. Real database, IMAP server in memory. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeAccount, type JudgedTo } from '../../src/areas/capture/judge-account.ts';
import { createRecordedEmails } from '../../src/areas/capture/recorded-store.ts';
import { createRemovalStore, stopRemoval } from '../../src/areas/capture/removal-store.ts';
import { carryOutRemovals, type RemoveLeftOutPorts } from '../../src/areas/capture/remove-left-out.ts';
import { areKnownTo } from '../../src/areas/mailboxes/known-to-account.ts';
import { createMailboxStatusStore } from '../../src/areas/mailboxes/mailbox-status.ts';
import { rulesDigest, type CaptureRules } from '../../src/core/mailbox/capture.ts';
import { directReader } from '../helpers/direct-reader.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { numberedMail, useMailboxWorlds, type MailboxWorld } from '../helpers/mailbox-worlds.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { createTestPool } from '../helpers/test-pool.ts';

const worlds = useMailboxWorlds();
let pool: pg.Pool;

beforeAll(() => {
  pool = createTestPool(worlds.database, 4);
});
afterAll(() => pool.end());

const rules = (some: Partial<CaptureRules>): CaptureRules => ({
  folders: [],
  neverAddresses: [],
  neverSubjects: [],
  internalDomains: [],
  leaveOutPrivate: false,
  onlyCustomers: false,
  ...some,
});
const BANK = rules({ neverAddresses: ['*@bank.test'] });
const NOTHING = { address: 0, subject: 0, internal: 0, private: 0, stranger: 0 };
const STAYING = { answered: 0, drafted: 0, handled: 0, report: 0 };

/** Files by their paths, for messages that are not in the database. */
const files = new Map<string, string>();
let filesRead = 0;

const ports = (more: Partial<RemoveLeftOutPorts> = {}): RemoveLeftOutPorts => ({
  recorded: createRecordedEmails(pool),
  removals: createRemovalStore(pool, pool),
  reader: directReader,
  blobs: {
    async get(path, range): Promise<Readable | null> {
      filesRead += 1;
      const file = files.get(path);
      return file === undefined ? null : createReadStream(file, range);
    },
  },
  areKnown: (accountId, messages) => areKnownTo(pool, accountId, messages),
  rules: () => new Map(),
  requireCertainty: async () => {},
  refresh: async () => {},
  deleteFiles: async () => {},
  logger: silentLogger,
  ...more,
});

async function record(world: MailboxWorld): Promise<void> {
  const node = await world.start();
  await world.waitForPass();
  await world.stop(node);
}

/** The outcome of all pages. */
async function judge({ account: accountId }: MailboxWorld, capture: CaptureRules | null, limit = 1000) {
  const parts = [];
  let from: JudgedTo | null = null;
  do {
    const part = await judgeAccount(ports(), { accountId, capture }, { from, limit });
    parts.push(part);
    from = part.next;
  } while (from !== null);
  return {
    pages: parts.length,
    removable: sum(parts.map(({ counts }) => counts.removable)),
    emptied: sum(parts.map(({ counts }) => counts.emptiedThreads)),
    judged: sum(parts.map(({ counts }) => counts.judged)),
    found: parts
      .flatMap(({ leftOut }) => leftOut)
      .map(({ email, verdict }) => [
        email.subject,
        verdict.kind === 'left_out' ? verdict.reason : '',
        verdict.kind === 'left_out' ? verdict.stays : '',
      ])
      .toSorted(),
    first: parts[0]!.counts,
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const subjectsOf = async ({ account }: MailboxWorld) =>
  (await worlds.query('select subject from emails where account_id = $1 order by subject', [account])).map(
    ({ subject }) => subject as string,
  );
const idOf = async (subject: string) =>
  (await worlds.query('select id, thread_id from emails where subject = $1', [subject]))[0] as {
    id: string;
    thread_id: string;
  };

async function request({ account: accountId }: MailboxWorld, capture: CaptureRules, confirmed: number) {
  const removal = await createRemovalStore(pool, pool).request({
    id: randomUUID(),
    accountId,
    requestedBy: 'test',
    authorKey: null,
    rulesDigest: rulesDigest(capture)!,
    confirmed,
  });
  return removal!;
}

const remove = (
  { account }: MailboxWorld,
  capture: CaptureRules | null,
  more: Partial<RemoveLeftOutPorts> = {},
) =>
  carryOutRemovals(
    ports({ rules: () => new Map([[account, capture]]), ...more }),
    new AbortController().signal,
  );

const removalOf = ({ account }: MailboxWorld) => createRemovalStore(pool, pool).read(account);

describe('judging what is recorded', () => {
  it('comes to the same as reading the mailbox with the rules', async () => {
    const all = rules({
      neverAddresses: ['*@bank.test'],
      neverSubjects: ['[privat]', 'geh\u00e4lter'],
      internalDomains: ['example.com'],
      leaveOutPrivate: true,
      onlyCustomers: true,
    });
    await worlds.query(
      `insert into customer_addresses (customer_id, address, origin) values ($1, 'ada@known.test', 'registered')`,
      [randomUUID()],
    );
    const fill = ({ inbox, sent }: MailboxWorld) => {
      inbox.add(mail({ from: 'Bank <post@Bank.test>', subject: 'A bank' }));
      inbox.add(mail({ from: 'ada@known.test', to: 'POST@bank.test', subject: 'B to the bank' }));
      inbox.add(mail({ from: 'ada@known.test', subject: 'C [Privat] =?utf-8?q?Geh=C3=A4lter?=' }));
      inbox.add(mail({ from: 'eva@example.com', to: 'max@example.com', subject: 'D intern' }));
      inbox.add(mail({ from: 'ada@known.test', subject: 'E private', headers: ['Sensitivity: Private'] }));
      inbox.add(mail({ from: 'x@stranger.test', subject: 'F stranger' }));
      inbox.add(mail({ from: 'ada@known.test', subject: 'G customer' }));
      inbox.add(mail({ from: 'x@stranger.test', subject: 'H copy', headers: ['Cc: ada@known.test'] }));
      inbox.add(mail({ from: 'MAILER-DAEMON@mx.test', subject: 'I daemon' }));
      inbox.add(mail({ from: 'x@stranger.test', subject: 'J null sender', headers: ['Return-Path: <>'] }));
      inbox.add(mail({ from: '', subject: 'K nobody' }));
      inbox.add(
        mail({
          from: 'formular@example.com',
          to: 'max@example.com',
          subject: 'L form',
          headers: ['Reply-To: ada@known.test'],
        }),
      );
      inbox.add(mail({ from: 'ada@known.test', subject: 'M', headers: ['From: post@bank.test'] }));
      inbox.add(mail({ from: 'a@bank.test, ada@known.test', subject: 'N two authors' }));
      sent.add(mail({ from: 'sales@example.com', to: 'post@bank.test', subject: 'O sent to the bank' }));
      sent.add(mail({ from: 'sales@example.com', to: 'x@stranger.test', subject: 'P sent to a stranger' }));
      sent.add(mail({ from: 'sales@example.com', to: 'ada@known.test', subject: 'Q sent' }));
    };
    const recorded = worlds.createWorld();
    fill(recorded);
    await record(recorded);
    const judged = await judge(recorded, all);

    const ruled = worlds.createWorld();
    fill(ruled);
    await ruled.start({ capture: all });
    await ruled.waitForPass();
    const left = await subjectsOf(ruled);
    const missing = (await subjectsOf(recorded)).filter((subject) => !left.includes(subject));
    expect(judged.found.map(([subject]) => subject)).toEqual(missing);
    expect(missing.length).toBeGreaterThan(6);
    const reasons = Object.fromEntries(
      (
        await worlds.query(
          `select m.left_out, count(*)::int as emails from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
          where b.account_id = $1 and m.left_out is not null group by 1`,
          [ruled.account],
        )
      ).map(({ left_out: reason, emails }) => [reason, emails]),
    );
    expect(judged.first.leftOut).toEqual({ ...NOTHING, ...reasons });
    expect(judged.first).toMatchObject({
      judged: 17,
      notFromMailbox: 0,
      unknown: 0,
      removable: missing.length,
    });
  });

  it('is the same on pages of any size, each email once, and knows which threads end', async () => {
    const world = worlds.createWorld();
    for (let number = 1; number <= 12; number += 1) {
      const isOfBank = number % 3 === 0;
      world.inbox.add(
        numberedMail(number, {
          from: isOfBank ? 'post@bank.test' : 'ada@customer.test',
          ...(number > 6 ? { inReplyTo: `<${number - 6}@customer.test>` } : {}),
        }),
      );
    }
    world.inbox.add(numberedMail(13, { from: 'a@bank.test' }));
    await record(world);
    const whole = await judge(world, BANK);
    // 3 and 9, 6 and 12, and 13.
    expect(whole).toMatchObject({ pages: 1, judged: 13, removable: 5, emptied: 3 });
    for (const limit of [1, 2, 5, 13]) {
      const { judged, removable, emptied, found } = await judge(world, BANK, limit);
      expect({ judged, removable, emptied, found }).toEqual({
        judged: 13,
        removable: 5,
        emptied: 3,
        found: whole.found,
      });
    }
    expect(await judge(world, null)).toMatchObject({ judged: 13, removable: 0, first: { kept: 13 } });
    expect(await judge({ ...world, account: 'nobody' }, BANK)).toMatchObject({ judged: 0, pages: 1 });
  });

  it('is only about what came from a mailbox alone', async () => {
    const world = worlds.createWorld();
    for (const subject of ['Imported', 'Delivered', 'Also delivered', 'Read'])
      world.inbox.add(mail({ from: 'post@bank.test', subject: `${subject} 2` }));
    await record(world);
    const set = (subject: string, way: string) =>
      worlds.query(`update emails set received_by = $1 where subject = $2`, [
        JSON.stringify({ way, place: null }),
        subject,
      ]);
    await set('Imported 2', 'import');
    await set('Delivered 2', 'lmtp');
    const { id } = await idOf('Also delivered 2');
    await worlds.query(
      `insert into email_variants (id, email_id, content_digest, raw_digest, received_at, received_by, is_sent_copy, text_body, raw_size_bytes, raw)
      values ($1, $2, $3, $3, now(), '{"way":"smtp","place":null}', false, '', 1, 'x')`,
      [randomUUID(), id, Buffer.alloc(32)],
    );
    const { first, found } = await judge(world, BANK);
    expect(first).toMatchObject({ judged: 4, notFromMailbox: 3, removable: 1 });
    expect(found).toEqual([['Read 2', 'address', null]]);
  });

  it('reads the beginning of a large message, and keeps one whose header is not known', async () => {
    const world = worlds.createWorld();
    const large = (subject: string, headers: readonly string[] = []) =>
      mail({ from: 'post@bank.test', subject, headers: [...headers], body: 'x\r\n'.repeat(40_000) });
    world.inbox.add(large('Large'));
    world.inbox.add(large('Lost'));
    world.inbox.add(
      mail({ from: 'post@bank.test', subject: 'Long header', headers: [`To: ${'a'.repeat(900)}@x.test`] }),
    );
    await record(world);
    const rows = await worlds.query(
      'select subject, raw_path from emails where account_id = $1 and raw_path is not null',
      [world.account],
    );
    expect(rows.map(({ subject }) => subject).toSorted()).toEqual(['Large', 'Lost']);
    // The files of the reading node are gone with it; a copy of one stands in.
    const { makeTempFolder } = await import('../helpers/temp-folder.ts');
    const { writeFile } = await import('node:fs/promises');
    const folder = await makeTempFolder();
    const file = `${folder.path}/large.eml`;
    await writeFile(file, large('Large'));
    files.set(rows.find(({ subject }) => subject === 'Large')!['raw_path'] as string, file);
    filesRead = 0;
    const { first, found } = await judge(world, BANK);
    expect(found).toEqual([
      ['Large', 'address', null],
      ['Long header', 'address', null],
    ]);
    expect(first).toMatchObject({ judged: 3, unknown: 1, removable: 2 });
    expect(filesRead).toBe(2);
    await folder.remove();
  });

  it('names why an email stays', async () => {
    const world = worlds.createWorld();
    const subjects = [
      '1 answered',
      '2 drafted',
      '3 draft of it',
      '4 labelled',
      '5 decided',
      '6 report',
      '7 free',
    ];
    for (const subject of subjects)
      world.inbox.add(
        mail({ messageId: `<${randomUUID()}@bank.test>`, from: 'post@bank.test', subject: `${subject}!` }),
      );
    await record(world);
    const ids = await Promise.all(subjects.map((subject) => idOf(`${subject}!`)));
    await worlds.query(
      `insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
        cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw)
      values ($1, $2, $3, 'outbound', 'sent@example.com', '{}', '{}', '{"name":"","address":"a@example.com"}', '[]', '[]', '[]', 'Re',
        '', now(), 'sent', 'thread_id', 1, 'x')`,
      [randomUUID(), world.account, ids[0]!.thread_id],
    );
    const draft = (threadId: string | null, answers: string | null) =>
      worlds.query(
        `insert into drafts (id, account_id, thread_id, answers, message, recipients, subject) values ($1, $2, $3, $4, '{}', '', '')`,
        [
          randomUUID(),
          world.account,
          threadId,
          answers === null ? null : JSON.stringify({ emailId: answers }),
        ],
      );
    await draft(ids[1]!.thread_id, null);
    await draft(null, ids[2]!.id);
    await worlds.query(`update email_threads set labels = '{wichtig}' where id = $1`, [ids[3]!.thread_id]);
    await worlds.query(
      `insert into thread_decisions (id, account_id, kind, thread_id, email_ids, from_thread_ids)
      values ($1, $2, 'move', $3, array[$4::uuid], array[$3::uuid])`,
      [randomUUID(), world.account, randomUUID(), ids[4]!.id],
    );
    await worlds.query(
      `insert into bounce_reports (report_id, account_id, kind, format, message_ids, recipients, reported_at)
      values ($1, $2, 'report', 'dsn', '{}', '[]', now())`,
      [ids[5]!.id, world.account],
    );
    const { found, first } = await judge(world, BANK);
    expect(found).toEqual([
      ['1 answered!', 'address', 'answered'],
      ['2 drafted!', 'address', 'drafted'],
      ['3 draft of it!', 'address', 'drafted'],
      ['4 labelled!', 'address', 'handled'],
      ['5 decided!', 'address', 'handled'],
      ['6 report!', 'address', 'report'],
      ['7 free!', 'address', null],
    ]);
    expect(first.staying).toEqual({ ...STAYING, answered: 1, drafted: 2, handled: 2, report: 1 });
  });
});

describe('removing what is left out', () => {
  it('deletes it, leaves its messages out from then on, and brings none of them back', async () => {
    const world = worlds.createWorld();
    world.inbox.add(mail({ messageId: '<1@bank.test>', from: 'post@bank.test', subject: 'Bank 1' }));
    world.inbox.add(mail({ messageId: '<2@bank.test>', from: 'post@bank.test', subject: 'Bank 2' }));
    world.inbox.add(mail({ from: 'ada@customer.test', subject: 'Anfrage' }));
    world.sent.add(
      mail({ messageId: '<3@example.com>', from: 'a@example.com', to: 'post@bank.test', subject: 'Sent' }),
    );
    await record(world);
    expect((await judge(world, BANK)).removable).toBe(3);
    await request(world, BANK, 3);
    await remove(world, BANK);
    expect(await removalOf(world)).toMatchObject({
      state: 'done',
      judged: 4,
      found: 3,
      removed: { ...NOTHING, address: 3 },
      kept: 0,
    });
    expect(await subjectsOf(world)).toEqual(['Anfrage']);
    const status = createMailboxStatusStore(pool);
    const leftOut = await status.findLeftOut({
      messageIds: ['1@bank.test', '3@example.com'],
      accountId: world.account,
    });
    expect(leftOut.map(({ path, reason }) => [path, reason]).toSorted()).toEqual([
      ['INBOX', 'address'],
      ['Sent', 'address'],
    ]);
    const counts = async () =>
      (await status.readStatus(world.account))[0]!.mailboxes.find(({ path }) => path === 'INBOX')!.counts;
    expect(await counts()).toMatchObject({ recorded: 1, waiting: 0, leftOut: { ...NOTHING, address: 2 } });
    const rows = await worlds.query(
      `select to_jsonb(m)::text as row from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
      where b.account_id = $1 and m.left_out is not null`,
      [world.account],
    );
    for (const { row } of rows) expect(row).not.toMatch(/bank/i);

    // Read again by these rules, and by none.
    const before = world.server.fetchedUids.length;
    const node = await world.start({ capture: BANK });
    await world.waitForPass();
    await world.stop(node);
    expect(world.server.fetchedUids.length).toBe(before);
    expect(await subjectsOf(world)).toEqual(['Anfrage']);
    await world.start();
    await world.waitForPass();
    expect(await subjectsOf(world)).toEqual(['Anfrage']);
    expect(await counts()).toMatchObject({ waiting: 0, leftOut: NOTHING });
  });

  it.each([1, 2, 4, 1_000_000])(
    'removes nothing when %s emails were confirmed, and there are three',
    async (confirmed) => {
      const world = worlds.createWorld();
      for (let number = 1; number <= 3; number += 1)
        world.inbox.add(numberedMail(number, { from: 'post@bank.test' }));
      await record(world);
      await request(world, BANK, confirmed);
      await remove(world, BANK);
      expect(await removalOf(world)).toMatchObject({ state: 'refused', removed: NOTHING });
      expect((await subjectsOf(world)).length).toBe(3);
      expect(await worlds.query('select * from capture_removal_emails')).toEqual([]);
      expect((await removalOf(world))!.finishedAt).not.toBeNull();
    },
  );

  it('removes nothing by other rules than those that were confirmed', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1, { from: 'post@bank.test' }));
    await record(world);
    for (const other of [null, rules({ neverAddresses: ['*@bank.test', '*@customer.test'] })]) {
      await request(world, BANK, 1);
      await remove(world, other);
      expect(await removalOf(world)).toMatchObject({ state: 'stopped', removed: NOTHING });
    }
    // The mailboxes to read are no part of them.
    await request(world, BANK, 1);
    await remove(world, { ...BANK, folders: ['Projekte'] });
    expect(await removalOf(world)).toMatchObject({ state: 'done' });
  });

  it('keeps what people worked with since it was counted, and what was deleted meanwhile counts as kept', async () => {
    const world = worlds.createWorld();
    for (let number = 1; number <= 5; number += 1)
      world.inbox.add(numberedMail(number, { from: 'post@bank.test' }));
    await record(world);
    await request(world, BANK, 5);
    const label = (number: number) =>
      worlds.query(
        `update email_threads set labels = '{x}' where id = (select thread_id from emails where account_id = $1 and subject = $2)`,
        [world.account, `Nr. ${number}`],
      );
    const store = createRemovalStore(pool, pool);
    let steps = 0;
    await remove(world, BANK, {
      removals: {
        ...store,
        async listed(removal, limit) {
          const ids = await store.listed(removal, limit);
          if (steps === 0) await label(1);
          return ids;
        },
        async remove(removal, step) {
          steps += 1;
          // After these emails were judged, and before they are locked.
          if (steps === 1) await label(2);
          return await store.remove(removal, step);
        },
      },
    });
    expect(await subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2']);
    expect(await removalOf(world)).toMatchObject({
      state: 'done',
      removed: { ...NOTHING, address: 3 },
      kept: 2,
    });
  });

  it('continues where a killed process ended, whatever the step, and counts nothing twice', async () => {
    const world = worlds.createWorld();
    for (let number = 1; number <= 130; number += 1)
      world.inbox.add(numberedMail(number, { from: number <= 120 ? 'post@bank.test' : 'ada@customer.test' }));
    await record(world);
    await request(world, BANK, 120);
    const store = createRemovalStore(pool, pool);
    let failures = 0;
    const dying = (step: 'noteJudged' | 'listed' | 'remove' | 'end', isAfter: boolean) => ({
      ...store,
      release: async () => {},
      async [step](...args: never[]) {
        const work = store[step] as (...args: never[]) => Promise<unknown>;
        if (isAfter) await work(...args);
        failures += 1;
        throw new Error('killed');
      },
    });
    const expire = () =>
      worlds.query(
        `update capture_removals set lease_until = now() - interval '1 second' where owner is not null`,
      );
    for (const step of ['noteJudged', 'listed', 'remove', 'end'] as const) {
      for (const isAfter of [false, true]) {
        await remove(world, BANK, { removals: dying(step, isAfter) as never }).catch(() => undefined);
        // Within the lease no other process takes it.
        const before = await removalOf(world);
        await remove(world, BANK);
        expect(await removalOf(world)).toEqual(before);
        await expire();
      }
    }
    await remove(world, BANK);
    expect(failures).toBeGreaterThan(5);
    expect(await removalOf(world)).toMatchObject({
      state: 'done',
      judged: 130,
      found: 120,
      removed: { ...NOTHING, address: 120 },
      kept: 0,
    });
    expect((await subjectsOf(world)).length).toBe(10);
  });

  it('is done once by two processes at the same moment', async () => {
    const world = worlds.createWorld();
    for (let number = 1; number <= 60; number += 1)
      world.inbox.add(numberedMail(number, { from: 'post@bank.test' }));
    await record(world);
    await request(world, BANK, 60);
    await Promise.all([remove(world, BANK), remove(world, BANK)]);
    expect(await removalOf(world)).toMatchObject({ state: 'done', removed: { ...NOTHING, address: 60 } });
    const events = await worlds.query(
      `select b.type, b.data from event_inbox, unnest(bodies) b where b.account_id = $1 and b.type in ('removal.ended', 'email.deleted')`,
      [world.account],
    );
    expect(events.filter(({ type }) => type === 'email.deleted').length).toBe(60);
    const ended = events.flatMap(({ type, data }) =>
      type === 'removal.ended' ? [JSON.parse(data as string) as object] : [],
    );
    expect(ended).toEqual([
      {
        removal_id: (await removalOf(world))!.id,
        state: 'done',
        confirmed: 60,
        found: 60,
        removed: 60,
        kept: 0,
      },
    ]);
  });

  it('stops at once, also when the account is changed, and ends as an event', async () => {
    const world = worlds.createWorld();
    for (let number = 1; number <= 120; number += 1)
      world.inbox.add(numberedMail(number, { from: 'post@bank.test' }));
    await record(world);
    await request(world, BANK, 120);
    expect(
      await createRemovalStore(pool, pool).request({
        id: randomUUID(),
        accountId: world.account,
        requestedBy: 'test',
        authorKey: null,
        rulesDigest: rulesDigest(BANK)!,
        confirmed: 1,
      }),
    ).toBeNull();
    const store = createRemovalStore(pool, pool);
    await remove(world, BANK, {
      removals: {
        ...store,
        async remove(removal, step) {
          const isDone = await store.remove(removal, step);
          await stopRemoval(pool, world.account);
          return isDone;
        },
      },
    });
    expect(await removalOf(world)).toMatchObject({ state: 'stopped', removed: { ...NOTHING, address: 50 } });
    expect((await subjectsOf(world)).length).toBe(70);
    // What is left on its list is forgotten by the next one that is looked for.
    await remove(world, BANK);
    expect(await worlds.query('select * from capture_removal_emails')).toEqual([]);
    await request(world, BANK, 70);
    await remove(world, BANK);
    expect(await removalOf(world)).toMatchObject({ state: 'done', found: 70 });
  });

  it('waits while the time or the files are in doubt', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1, { from: 'post@bank.test' }));
    await record(world);
    await request(world, BANK, 1);
    const requireCertainty = () => Promise.reject(new Error('clock_in_doubt'));
    await expect(remove(world, BANK, { requireCertainty })).rejects.toThrow('clock_in_doubt');
    expect((await subjectsOf(world)).length).toBe(1);
    // It was given back.
    await remove(world, BANK);
    expect(await removalOf(world)).toMatchObject({ state: 'done' });
  });
});
