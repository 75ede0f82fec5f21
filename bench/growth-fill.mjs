/**
 * Fills a data folder of the service with a large mailbox by SQL, for bench/growth.mjs: ten million emails in less than an hour;
 * triggers and the search index would take a day. Tables are filled without triggers and without their indexes, which are built
 * afterwards, by a server that does not wait for the disk. The result has everything that the service would have written, except
 * events.
 *
 * - 3.3 emails a thread, in the order of their dates over three years; a thread lasts about six days.
 * - A text has 30 words, word number n occurs in about 2.5/n of the emails (Zipf); there are 100,000 different texts.
 * - A customer has some 300 emails, however many emails there are; one customer, `silent`, has a tenth of all threads.
 * - One email in ten has a file. 75, 20 and 5 % belong to the accounts `default`, `sales` and `support`.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { migrateToLatest } from '../dist/platform/db/migrate.js';
import { findBinaries } from '../dist/connectors/embedded-postgres/binaries.js';
import { ensureDatabase, initDataFolder } from '../dist/connectors/embedded-postgres/init-database.js';
import { chooseLocation, prepareLocation } from '../dist/connectors/embedded-postgres/location.js';
import { createServerLog } from '../dist/connectors/embedded-postgres/server-log.js';
import { ServerProcess } from '../dist/connectors/embedded-postgres/server-process.js';
import { chooseSocketFolder, SOCKET_PORT } from '../dist/connectors/embedded-postgres/socket-folder.js';
import { DATABASE, serverArguments, USER } from '../dist/connectors/embedded-postgres/settings.js';
import { toSearchDocument } from '../dist/core/search/document.js';
import { logger } from './large-mailbox.mjs';

/** Settings of a server that may lose everything in a crash: the folder is then filled again. */
const CARELESS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  shared_buffers: '1GB',
  work_mem: '512MB',
  maintenance_work_mem: '2GB',
};

/** Steps that run at the same time. */
const LANES = 2;

const TEXTS = 100_000;
const TEXT_WORDS = 30;
const PEOPLE = 50_000;
const THREAD_EMAILS = 3.3;
const OWN = { name: 'Vertrieb', address: 'sales@example.com' };

/** Like `startEmbeddedPostgres`, with other settings. */
async function startCareless(dataDir) {
  await mkdir(dataDir, { recursive: true });
  const binaries = await findBinaries();
  const setup = await chooseLocation(await realpath(dataDir), '/var/lib/email-worker', binaries);
  const socketFolder = chooseSocketFolder(setup.location, setup.identity);
  const log = createServerLog(setup.location.logFile, logger);
  const server = new ServerProcess({
    setup,
    socketFolder,
    serverArguments: [
      ...serverArguments(setup.location.dataFolder, socketFolder.path, setup.binaries.version),
      ...Object.entries(CARELESS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    log,
    logger,
    async prepare() {
      await prepareLocation(setup);
      await initDataFolder(setup);
    },
  });
  const connection = { host: socketFolder.path, port: SOCKET_PORT, user: USER, database: DATABASE };
  await server.start(() => ensureDatabase(connection));
  return {
    connection: { ...connection, options: '-c search_path=email_worker' },
    async stop() {
      await server.stop();
      log.close();
    },
  };
}

/** The texts and people of the emails, with their words as the service makes them. */
async function makeParts(client) {
  await client.query(`
    create unlogged table bench_texts (n int primary key, subject text not null, body text not null, words tsvector not null);
    create unlogged table bench_people (n int primary key, person jsonb not null, from_words tsvector not null, to_words tsvector not null)`);
  const word = () => `w${Math.floor(200_000 ** Math.random())}x`;
  const none = { from: [], to: [], files: [], body: '', subject: '' };
  const own = `${OWN.name} ${OWN.address}`;
  for (let start = 0; start < TEXTS; start += 5000) {
    const texts = Array.from({ length: 5000 }, (_, index) => {
      const body = Array.from({ length: TEXT_WORDS }, word).join(' ');
      const subject = `Betreff ${body.split(' ').slice(0, 3).join(' ')}`;
      return { n: start + index, subject, body, words: toSearchDocument({ ...none, subject, body }) };
    });
    await client.query(
      `insert into bench_texts select * from json_to_recordset($1) as t (n int, subject text, body text, words tsvector)`,
      [JSON.stringify(texts)],
    );
  }
  for (let start = 0; start < PEOPLE; start += 5000) {
    const people = Array.from({ length: 5000 }, (_, index) => {
      const n = start + index;
      const person = { name: `Person ${n}`, address: `person${n}@firma${n % 3000}.example` };
      const other = `${person.name} ${person.address}`;
      return {
        n,
        person,
        from_words: toSearchDocument({ ...none, from: [other], to: [own] }),
        to_words: toSearchDocument({ ...none, from: [own], to: [other] }),
      };
    });
    await client.query(
      `insert into bench_people
        select * from json_to_recordset($1) as p (n int, person jsonb, from_words tsvector, to_words tsvector)`,
      [JSON.stringify(people)],
    );
  }
}

/** An identifier that begins with a moment, like those of the service. */
const idAt = (
  date,
  what,
) => `overlay(overlay(overlay(md5(${what}) placing lpad(to_hex((extract(epoch from ${date}) * 1000)::bigint), 12, '0')
  from 1 for 12) placing '7' from 13 for 1) placing '8' from 17 for 1)::uuid`;

/** A number from 0 to 1, the same on each run. */
const chance = (n, salt) => `((hashint8extended(${n}, ${salt}) & 1048575) / 1048576.0)`;

/** Each step: its name, the steps that it needs first, and its work. Steps that don't depend on each other run at the same time. */
const steps = (emails) => {
  const threads = Math.ceil(emails / THREAD_EMAILS);
  const window = Math.max(3, Math.ceil((threads * 6) / 1090));
  const dateOf = (n) =>
    `date_trunc('milliseconds', timestamptz '2023-11-01' + ${n} * (interval '1090 days' / ${emails}))`;
  return [
    {
      name: 'plan',
      sql: `create unlogged table bench_threads as
        select t, account_id, customer_id, company_id, person, id, date from (
          select t, abs(hashint8extended(t, 7) % ${PEOPLE})::int as person,
            (array['default', 'sales', 'support'])[case when t % 20 < 15 then 1 when t % 20 < 19 then 2 else 3 end] as account_id,
            case when t % 10 < 3 then null when t % 10 = 3 then md5('silent')::uuid
              else md5('customer' || (t / 10) % ${Math.max(1, Math.ceil(emails / 500))})::uuid end as customer_id,
            case when t % 10 between 4 and 7 then md5('company' || (t / 10) % ${Math.max(1, Math.ceil(emails / 2500))})::uuid end as company_id,
            date, ${idAt('date', `'thread' || t`)} as id
          from (select t, timestamptz '2023-11-01' + t * (interval '1090 days' / ${threads}) as date from generate_series(0, ${threads}) t) d
        ) t;
      create unlogged table bench_mail (n int, id uuid, thread_id uuid, account_id text, customer_id uuid, company_id uuid, person int,
        text int, direction text, date timestamptz, automatic boolean);
      analyze bench_threads, bench_texts, bench_people`,
    },
    {
      name: 'mail',
      after: ['plan'],
      part: (first, last) => `insert into bench_mail
        select e.n, e.id, t.id as thread_id, t.account_id, t.customer_id, t.company_id, t.person, e.text, e.direction, e.date, e.automatic
        from (
          select n, greatest(0, floor(n / ${THREAD_EMAILS} - ${chance('n', 1)} * ${window}))::int as thread,
            (hashint8extended(n, 2) & 2147483647)::int % ${TEXTS} as text,
            case when ${chance('n', 3)} < 0.4 then 'outbound' else 'inbound' end as direction,
            n % 7 = 0 as automatic, date, ${idAt('date', `'email' || n`)} as id
          from (
            select n, ${dateOf('n')} as date
            from generate_series(${first}, ${last}) n
          ) d
        ) e join bench_threads t on t.t = e.thread`,
    },
    { name: 'statistics', after: ['mail'], sql: 'analyze bench_mail' },
    {
      name: 'emails',
      after: ['statistics'],
      part: (first, last) => `insert into emails (
          id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses, cc_addresses,
          bcc_addresses, subject, text_body, date, created_at, customer_id, company_id, state, placement_rule, raw_size_bytes, raw,
          identity_key, reply_text, automatic
        )
        select m.id, m.account_id, m.thread_id, m.direction, m.n || '@example.com', '{}', '{}',
          case m.direction when 'inbound' then p.person else o.own end,
          jsonb_build_array(case m.direction when 'inbound' then o.own else p.person end), '[]', '[]',
          x.subject, x.body, m.date, m.date, m.customer_id, m.company_id,
          case m.direction when 'inbound' then 'received' else 'sent' end, 'new', 2000, '',
          case m.direction when 'inbound' then sha256(m.n::text::bytea) end,
          case m.direction when 'inbound' then x.body end,
          case when m.direction = 'inbound' and m.automatic
            then '{"kind":"auto_reply","evidence":"","suppressReplies":true}'::jsonb end
        from bench_mail m join bench_people p on p.n = m.person join bench_texts x on x.n = m.text,
          (select '${JSON.stringify(OWN)}'::jsonb as own) o
        where m.n between ${first} and ${last};
      insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
        select ${idAt('date', `'file' || n`)}, id, 0, 'rechnung.pdf', 'application/pdf', 12345,
          account_id || '/' || id || '/rechnung.pdf', sha256('x')
        from bench_mail where n % 10 = 0 and n between ${first} and ${last}`,
    },
    {
      name: 'words',
      after: ['statistics'],
      part: (first, last) => `insert into email_search (email_id, thread_id, date, is_listed, words)
        select m.id, m.thread_id, m.date, true, case m.direction when 'inbound' then p.from_words else p.to_words end || x.words
        from bench_mail m join bench_people p on p.n = m.person join bench_texts x on x.n = m.text
        where m.n between ${first} and ${last}`,
    },
    { name: 'indexes of words', after: ['words'], reindex: ['email_search'] },
    {
      name: 'json',
      after: ['emails'],
      part: (
        first,
        last,
      ) => `insert into email_json (email_id, thread_id, date, is_listed, files, has_files, direction, account_id, json)
        select e.id, e.thread_id, e.date, true, case when a.id is null then 0 else 1 end, a.id is not null, e.direction, e.account_id,
          concat(e.json_before_text, to_json(e.text_body), e.json_after_text,
            coalesce('true,"email_attachments":[' || a.json || ']', 'false,"email_attachments":[]'))
        from emails e left join email_attachments a on a.email_id = e.id
        where e.date between ${dateOf(first)} and ${dateOf(last)}`,
    },
    { name: 'indexes of emails', after: ['emails'], reindex: ['emails', 'email_attachments'] },
    {
      name: 'threads',
      after: ['statistics'],
      sql: `insert into email_threads (id, account_id, customer_id, company_id, created_at, customer_source)
        select id, account_id, customer_id, company_id, date, case when customer_id is not null then 'address' end from bench_threads;
      insert into unread_emails
        select id from bench_mail where direction = 'inbound' and date > timestamptz '2026-08-01' and ${chance('n', 5)} < 0.3;
      insert into thread_summaries (thread_id, account_id, customer_id, company_id, email_count, unread_count, has_attachments,
          last_activity_at, newest_email_id, newest_direction, person_at, person_email_id, person_direction)
        select t.id, t.account_id, t.customer_id, t.company_id, s.emails, s.unread, s.has_files, l.date, l.id, l.direction, p.date, p.id, p.direction
        from (
          select thread_id, count(*) as emails, max(n) as newest, max(n) filter (where not (automatic and direction = 'inbound')) as person,
            count(*) filter (where u.email_id is not null) as unread, bool_or(n % 10 = 0) as has_files
          from bench_mail m left join unread_emails u on u.email_id = m.id group by thread_id
        ) s join bench_threads t on t.id = s.thread_id join bench_mail l on l.n = s.newest left join bench_mail p on p.n = s.person
        order by l.date;
      insert into thread_message_ids select account_id, n || '@example.com', thread_id from bench_mail;
      insert into customers (customer_id) select distinct customer_id from bench_threads where customer_id is not null;
      insert into customer_accounts select distinct customer_id, account_id from bench_threads where customer_id is not null`,
    },
    {
      name: 'deliveries and addresses',
      after: ['statistics'],
      sql: `insert into email_deliveries (email_id, ordinal, address, state, reply_code, reply_text)
        select m.id, 0, p.person ->> 'address', 'accepted', 250, '2.0.0 ok' from bench_mail m join bench_people p on p.n = m.person
        where m.direction = 'outbound';
      insert into delivery_attempts (email_id, attempt, started_at, ended_at, outcome, reply_code, reply_text, detail)
        select id, 1, date, date, 'accepted', 250, '2.0.0 ok', '' from bench_mail where direction = 'outbound';
      insert into address_mentions (email_id, account_id, address, kind, at, name)
        select m.id, m.account_id, p.person ->> 'address', case m.direction when 'outbound' then 4 else 2 end, m.date, p.person ->> 'name'
        from bench_mail m join bench_people p on p.n = m.person where not (m.automatic and m.direction = 'inbound');
      insert into known_addresses (account_id, address, name, rank, is_written_to, last_at, words)
        select m.account_id, p.person ->> 'address', p.person ->> 'name', 1, true, m.last, E'\\nperson' || p.n || E'\\nperson'
        from (select account_id, person, max(date) as last from bench_mail group by 1, 2) m join bench_people p on p.n = m.person;
      insert into known_address_words (account_id, word, address)
        select account_id, w, address from known_addresses, unnest(array['person', split_part(address, '@', 1)]) w`,
    },
    {
      name: 'indexes of the others',
      after: ['json', 'threads', 'deliveries and addresses'],
      reindex: [
        'email_json',
        'thread_summaries',
        'email_threads',
        'unread_emails',
        'thread_message_ids',
        'customers',
        'customer_accounts',
        'email_deliveries',
        'delivery_attempts',
        'address_mentions',
        'known_addresses',
        'known_address_words',
      ],
    },
  ];
};

/** Ranges from 1 to `count`, all of the same size. */
const rangesOf = (count, parts) =>
  Array.from({ length: parts }, (_, part) => [
    Math.floor((count * part) / parts) + 1,
    Math.floor((count * (part + 1)) / parts),
  ]);

/** Runs each step as soon as the steps before it are done, some at once. Returns the seconds that each took. */
async function runSteps(all, connection, emails) {
  const seconds = {};
  const free = [];
  const waiting = [];
  const clients = Array.from({ length: LANES }, () => new pg.Client(connection));
  for (const client of clients) {
    await client.connect();
    await client.query('set session_replication_role = replica');
    free.push(client);
  }
  const take = () => free.pop() ?? new Promise((resolve) => waiting.push(resolve));
  const give = (client) => {
    const next = waiting.shift();
    if (next === undefined) free.push(client);
    else next(client);
  };
  const done = new Map();
  const withClient = async (act) => {
    const client = await take();
    await act(client);
    give(client);
  };
  const indexesOf = async (tables) => {
    let names = [];
    await withClient(async (client) => {
      const { rows } = await client.query(
        'select indexrelid::regclass::text as name from pg_index where indrelid = any ($1::regclass[])',
        [tables],
      );
      names = rows.map(({ name }) => name);
    });
    return names;
  };
  for (const { name, after = [], sql, part, reindex = [] } of all) {
    const work = async () => {
      await Promise.all(after.map((before) => done.get(before)));
      const began = performance.now();
      const parts = part === undefined ? [] : rangesOf(emails, LANES);
      await Promise.all(
        parts.map(([first, last]) => withClient((client) => client.query(part(first, last)))),
      );
      if (sql !== undefined) await withClient((client) => client.query(sql));
      const indexes = reindex.length === 0 ? [] : await indexesOf(reindex);
      await Promise.all(
        indexes.map((index) => withClient((client) => client.query(`reindex index ${index}`))),
      );
      seconds[name] = Math.round((performance.now() - began) / 1000);
      console.error(`  ${name}: ${seconds[name]} s`);
    };
    done.set(name, work());
  }
  await Promise.all(done.values());
  for (const client of clients) await client.end();
  return seconds;
}

/** Fills the folder unless it is filled already. Returns the seconds of each step, or null. */
export async function fillFolder(dataDir, emails) {
  const mark = path.join(dataDir, `filled-with-${emails}`);
  if (existsSync(mark)) return null;
  console.error(`filling ${dataDir} with ${emails} emails …`);
  const server = await startCareless(dataDir);
  try {
    const pool = new pg.Pool({ ...server.connection, max: 2 });
    await migrateToLatest(pool);
    const all = steps(emails);
    await makeParts(pool);
    // The indexes are not maintained while rows are added; `reindex` builds them anew and removes this mark.
    await pool.query(
      `update pg_index set indisready = false, indisvalid = false where indrelid = any($1::regclass[])`,
      [all.flatMap(({ reindex = [] }) => reindex)],
    );
    const seconds = await runSteps(all, server.connection, emails);
    await pool.query('drop table bench_mail, bench_threads, bench_texts, bench_people');
    const began = performance.now();
    await pool.query('vacuum (analyze)');
    seconds.vacuum = Math.round((performance.now() - began) / 1000);
    await pool.query('checkpoint');
    await pool.end();
    writeFileSync(mark, JSON.stringify(seconds));
    return seconds;
  } finally {
    await server.stop();
  }
}
