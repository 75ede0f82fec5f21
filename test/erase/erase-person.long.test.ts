/** Erasing a person: a service that has met the person by every path, and a search for traces in every column and every file. */
import { createTransport } from 'nodemailer';
import { Client } from 'pg';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startGatedSink, type GatedSink } from '../helpers/gated-sink.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../helpers/webhook-receiver.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';

const ADDRESS = 'zoe.qwertz@person.test';
const NAME = 'Zoe Qwertzky';
const MARKER = 'geheimnis4711';
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Texts that must not be found; in lower case. */
const TRACES = [ADDRESS, 'zoe.qwertz', 'qwertzky', MARKER];
const OTHER = 'max@neighbour.test';
const FORWARDER = 'team@neighbour.test';
const SHARED = 'Preisliste';
const CUSTOMER = randomUUID();

describe.skipIf(skipWithoutMailServers())('a person is erased', () => {
  let database: TestDatabase;
  let dovecot: DovecotServer;
  let sink: GatedSink;
  let receiver: WebhookReceiver;
  let service: ServiceProcess;

  const env = () => ({
    DATABASE_URL: database.connectionString,
    SMTP_URL: sink.url,
    IMAP_URL: dovecot.urlOf('bob'),
    MAIL_FROM: 'Bob <bob@example.test>',
    LMTP_LISTEN: '127.0.0.1:0',
    WEBHOOK_ALLOW: '127.0.0.1',
    MAX_INBOUND_BYTES: '500000',
  });

  beforeAll(async () => {
    [database, dovecot, sink, receiver] = await Promise.all([
      createTestDatabase(),
      startDovecot(),
      startGatedSink(),
      startWebhookReceiver(),
    ]);
    // An endpoint that repeats the request in its answer.
    receiver.respond = (response, { json }) =>
      response.writeHead(200).end(JSON.stringify(json).slice(0, 2000));
    service = await startServiceProcess({ env: env() });
  });
  afterAll(async () => {
    await disposeService(service);
    await Promise.all([dovecot.stop(), sink.stop(), receiver.close()]);
    await database.drop();
  });

  const ask = (text: string, values: readonly unknown[] = []) =>
    query(database.connectionString, text, values);
  const hers = (fields: Parameters<typeof mail>[0] = {}) =>
    mail({
      from: `${NAME} <${ADDRESS}>`,
      to: 'bob@example.test',
      subject: `Frage ${MARKER}`,
      body: MARKER,
      ...fields,
    });

  /** Every value of every column of every table, as text in lower case. */
  async function* everything(): AsyncGenerator<{ readonly place: string; readonly text: string }> {
    // One connection for all: a new one for each table takes longer than the search.
    const client = new Client({ connectionString: database.connectionString });
    await client.connect();
    try {
      const { rows: tables } = await client.query<{ place: string; table: string; columns: string[] }>(
        `select c.table_name as table, format('%I.%I', c.table_schema, c.table_name) as place, array_agg(
          case c.udt_name when 'bytea' then format('lower(encode(%1$I, ''escape'')) as %1$I', c.column_name)
            else format('lower(%1$I::text) as %1$I', c.column_name) end) as columns
        from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
        where c.table_schema not in ('pg_catalog', 'information_schema') and t.table_type = 'BASE TABLE'
        group by 1, 2 order by 2`,
      );
      expect(tables.reduce((sum, { columns }) => sum + columns.length, 0)).toBeGreaterThan(200);
      for (const { table, place, columns } of tables) {
        const { rows } = await client.query<Record<string, string | null>>(
          `select ${columns.join(', ')} from ${place}`,
        );
        for (const row of rows) {
          for (const [column, text] of Object.entries(row)) {
            if (text !== null) yield { place: `${table}.${column}`, text };
          }
        }
      }
    } finally {
      await client.end();
    }
  }

  async function* files(folder: string): AsyncGenerator<{ readonly place: string; readonly text: string }> {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      yield { place: path, text: path.toLowerCase() };
      if (entry.isFile())
        yield { place: path, text: (await readFile(path)).toString('latin1').toLowerCase() };
    }
  }

  async function traces(): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const source of [everything(), files(service.dataDir)]) {
      for await (const { place, text } of source) {
        for (const trace of TRACES) if (text.includes(trace)) found.add(`${trace} in ${place}`);
      }
    }
    return [...found].sort();
  }

  const post = (path: string, json: object) => service.request(path, { json });
  const made = async <T>(answer: Promise<Response>): Promise<T> => {
    const response = await answer;
    expect(response.status).toBeLessThan(300);
    return (await response.json()) as T;
  };
  const erase = (person: object) => made<{ id: string }>(post('/api/erasures', person));
  const recordOf = (id: string) =>
    getJson<{ state: string; finished_at: string | null; erased: Record<string, number> }>(
      service,
      `/api/erasures/${id}`,
    );
  const waitUntilErased = (id: string) =>
    waitUntil('it is erased', async () => (await recordOf(id)).state === 'done');

  /** Once this resolves, no delivery is under way whose answer would arrive after the erasure. */
  const waitUntilPosted = () =>
    waitUntil('all events are numbered, and posted', async () => {
      const [row] = await ask(`select (select count(*) from event_inbox)::int as inbox, (
        select count(*) from webhook_positions where position < (select max(position) from events)
      )::int as behind`);
      return row?.['inbox'] === 0 && row['behind'] === 0;
    });

  /** Plants text about a person in the fields of a send, by operators and by mail servers; in the kept emails, about others. */
  async function plantFurther(): Promise<{ readonly kept: readonly string[]; readonly sharedFile: string }> {
    const upload = await made<{ id: string }>(
      service.request('/api/uploads?filename=liste.txt', {
        method: 'POST',
        body: SHARED,
        headers: { 'content-type': 'application/octet-stream' },
      }),
    );
    const files = [{ upload_id: upload.id }];
    await sendJson(service, {
      to: ADDRESS,
      reply_to: `${NAME} <${ADDRESS}>`,
      subject: MARKER,
      // Too long for one row.
      text_body: `${MARKER} `.repeat(100_000),
      html_body: `<p title="${MARKER}">${NAME}</p>`,
      tags: [ADDRESS, MARKER],
      metadata: { [MARKER]: { name: NAME, list: [ADDRESS] } },
      headers: { 'X-Kunde': MARKER },
      attachments: files,
    });
    const template = await made<{ id: string }>(
      post('/api/templates', { name: 'Anrede', subject: 'Liebe {{ name }}', text_body: 'An {{ to }}' }),
    );
    const filled = { template_id: template.id, variables: { name: NAME, to: ADDRESS } };
    const unknown = await sendJson(service, { to: ADDRESS, ...filled });
    await ask(
      `update emails set state = 'unknown', state_detail = 'lost: ${ADDRESS}' where id = '${unknown.id}'`,
    );
    await made(post('/api/drafts', { message: { to: OTHER, ...filled }, attachments: files }));
    const batch = { emails: [{ to: ADDRESS, subject: MARKER, text_body: '-' }] };
    await made(
      service.request('/api/send/batch', { json: batch, headers: { 'idempotency-key': `batch-${ADDRESS}` } }),
    );
    // A thread of hers alone, with what people recorded about it.
    const own = await receive(service, hers({ subject: `Allein ${MARKER}` }));
    await made(
      service.request(`/api/threads/${own.threadId}`, {
        method: 'PATCH',
        json: { labels: [MARKER], status: 'done' },
      }),
    );
    // Mail between others: with the file that she received, and with a report that names her as the one it was forwarded to.
    const shared = await sendJson(service, {
      to: FORWARDER,
      subject: 'Preise',
      text_body: '-',
      attachments: files,
    });
    await receive(
      service,
      deliveryReport(shared.messageId, [{ address: FORWARDER, diagnostic: `550 ${ADDRESS} unknown` }]),
    );
    await waitUntil('the report is applied', async () => {
      const found = await ask('select from suppressions where address = $1 and diagnostic like $2', [
        FORWARDER,
        `%${ADDRESS}%`,
      ]);
      return found.length === 1;
    });
    await made(
      service.request('/api/suppressions/colleague@neighbour.test', {
        method: 'PUT',
        json: { note: `Wie ${ADDRESS}` },
      }),
    );
    const { email_attachments: sharedFiles } = await getJson<{ email_attachments: { id: string }[] }>(
      service,
      `/api/emails/${shared.id}`,
    );
    return { kept: [shared.id], sharedFile: sharedFiles[0]!.id };
  }

  /** The answers of the API's lists. */
  async function answers(): Promise<readonly { readonly place: string; readonly text: string }[]> {
    const targets = [
      '/api/events?limit=500',
      `/api/emails?q=${MARKER}`,
      `/api/threads?q=${MARKER}`,
      `/api/emails?q=${encodeURIComponent(NAME)}`,
      '/api/emails?limit=200',
      '/api/threads?limit=200',
      `/api/emails?tag=${MARKER}`,
      `/api/threads?label=${MARKER}`,
      `/api/customers?q=${encodeURIComponent(NAME)}`,
      '/api/customers',
      `/api/customer/${CUSTOMER}`,
      `/api/customer/${CUSTOMER}/emails`,
      `/api/customer/${CUSTOMER}/addresses`,
      `/api/addresses?q=${encodeURIComponent(NAME)}`,
      '/api/addresses?q=zoe',
      '/api/folders',
      '/api/drafts',
      '/api/suppressions',
      '/api/unsubscribes',
      '/api/quarantine',
      '/api/accounts',
      '/api/audit',
      '/api/webhooks',
      '/api/refused-merges',
      '/api/statistics?step=day&since=2026-01-01T00:00:00Z',
    ];
    const texts: { readonly place: string; readonly text: string }[] = [];
    for (const target of targets) {
      const response = await service.request(target);
      const text = (await response.text()).toLowerCase();
      // Everything about the customer may be gone.
      expect([target, response.status]).toEqual([target, expect.toBeOneOf([200, 404])]);
      texts.push({ place: target.split('?')[0] ?? target, text });
    }
    return texts;
  }

  it(
    'leaves no trace in the database or in files, and what was erased does not come back',
    { timeout: 360_000 },
    async () => {
      await post('/api/webhooks', { url: receiver.url });
      const { kept, sharedFile } = await plantFurther();
      // Sent emails: at once with a file, from the queue, to several, and one that waits.
      const offer = await sendJson(service, {
        to: `${NAME} <${ADDRESS}>`,
        subject: `Angebot ${MARKER}`,
        text_body: `Liebe ${NAME}`,
        customer_id: CUSTOMER,
        attachments: [
          {
            filename: `${MARKER}.txt`,
            content_type: 'text/plain',
            content: base64(MARKER),
          },
        ],
      });
      const queued = { to: OTHER, cc: ADDRESS, subject: `Liste ${MARKER}`, text_body: '-' };
      await service.request('/api/send', {
        json: queued,
        headers: { prefer: 'respond-async', 'idempotency-key': `list-${ADDRESS}` },
      });
      await post('/api/send', {
        ...queued,
        bcc: ADDRESS,
        cc: '',
        send_at: new Date(Date.now() + 86_400_000).toISOString(),
      });
      // Received emails: by HTTP with a variant, by LMTP, by IMAP, one that is set aside, by an import, and a bounce.
      const answerId = newId();
      const answer = await receive(service, hers({ messageId: answerId, inReplyTo: offer.messageId }));
      await receive(
        service,
        hers({ messageId: answerId, inReplyTo: offer.messageId, headers: [`X-Way: ${MARKER}`] }),
      );
      const port = /"address":"127\.0\.0\.1:(\d+)"/.exec(
        service.log.find((one) => one.includes('"protocol":"lmtp"')) ?? '',
      );
      const lmtp = createTransport({
        host: '127.0.0.1',
        port: Number(port?.[1]),
        lmtp: true,
        ignoreTLS: true,
      } as object);
      const byLmtp = hers();
      await lmtp.sendMail({ envelope: { from: ADDRESS, to: ['bob@example.test'] }, raw: byLmtp });
      const byImap = hers({ subject: `Per IMAP ${MARKER}` });
      const tooLarge = hers({
        subject: `Zu groß ${MARKER}`,
        body: `${MARKER}\r\n${'x'.repeat(70)}\r\n`.repeat(9000),
      });
      await dovecot.withClient('bob', async (client) => {
        for (const raw of [byImap, tooLarge]) await client.append('INBOX', raw);
      });
      const imported = hers({ subject: `Import ${MARKER}` });
      const file = join(service.dataDir, '..', `${randomUUID()}.eml`);
      await writeFile(file, imported);
      await runCommandInProcess(['import', file], { dataDir: service.dataDir, env: env() });
      await receive(
        service,
        deliveryReport(offer.messageId, [{ address: ADDRESS, diagnostic: `550 ${ADDRESS} unknown` }]),
      );
      // From operators: drafts that name her, answer her and are hers; acts in the audit log; a customer's addresses.
      const draft = (json: object) => post('/api/drafts', json);
      const drafts = await Promise.all([
        draft({
          message: { to: OTHER, cc: [`"${NAME}" <${ADDRESS}>`], subject: MARKER, text_body: MARKER },
          attachments: [
            { filename: `${MARKER}.txt`, content_type: 'text/plain', content: base64(`Entwurf ${MARKER}`) },
          ],
        }),
        draft({
          answers: { email_id: answer.id },
          message: { to: OTHER, text_body: MARKER },
          attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: base64(MARKER) }],
        }),
        draft({ author: ADDRESS, message: { text_body: MARKER } }),
        draft({ author: 'eva', message: { to: OTHER, text_body: '-' } }),
      ]);
      expect(drafts.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      const keptDraft = (await drafts.at(-1)?.json()) as { id: string };
      // Mail of another person, in the same thread and in another.
      const other = await receive(
        service,
        mail({ from: OTHER, inReplyTo: answer.messageId, subject: 'Nebenan' }),
      );
      await ask(`insert into unsubscribes (id, account_id, list, address, email_id)
      select gen_random_uuid(), account_id, 'newsletter', '${ADDRESS}', id from emails limit 1`);
      // A copy that waits for the Sent mailbox, after a server refused it and named her.
      await ask(`insert into sent_copies (email_id, account_id, due_at, last_error, last_error_at)
      select id, account_id, now() + interval '1 day', 'refused: ${ADDRESS}', now() from emails
      where id = '${offer.id}'`);
      await waitUntil('all mail is there', async () => {
        const [row] = await ask(`select
        (select count(*) from emails where subject like '%IMAP%' or subject like 'Import%')::int as emails,
        (select count(*) from mailbox_messages where quarantined_at is not null)::int as set_aside,
        (select count(*) from suppressions)::int as suppressed,
        (select count(*) from emails where state in ('queued', 'sending'))::int as waiting,
        (select count(*) from event_inbox)::int as inbox, (select count(*) from search_queue)::int as unindexed`);
        return (
          row?.['emails'] === 2 &&
          row['set_aside'] === 1 &&
          row['suppressed'] === 3 &&
          row['waiting'] === 1 &&
          row['inbox'] === 0 &&
          row['unindexed'] === 0
        );
      });
      await waitUntil('the webhook has them', () =>
        receiver.received.some(({ json }) => json.type === 'suppression.added'),
      );
      const acts = [
        await service.request(`/api/suppressions/${ADDRESS}`, { method: 'PUT', json: { note: MARKER } }),
        await service.request(`/api/customer/${CUSTOMER}/addresses`, {
          method: 'PUT',
          json: { addresses: [ADDRESS], domains: [], company_id: randomUUID(), name: NAME },
        }),
      ];
      expect(acts.map(({ status }) => status)).toEqual([200, 200]);
      await waitUntilPosted();
      const before = await traces();
      expect(before).toEqual(
        expect.arrayContaining([
          `${ADDRESS} in drafts.message`,
          `${ADDRESS} in drafts.author`,
          `${MARKER} in draft_files.filename`,
          `${MARKER} in suppressions.note`,
          `${ADDRESS} in unsubscribes.address`,
          `${ADDRESS} in sent_copies.last_error`,
          `${ADDRESS} in known_addresses.address`,
          `${ADDRESS} in known_address_words.word`,
          `${ADDRESS} in address_mentions.address`,
          `${ADDRESS} in email_tags.tag`,
          `${MARKER} in emails.metadata`,
          `${MARKER} in emails.headers`,
          `${MARKER} in thread_labels.label`,
          `qwertzky in customers.name`,
          `${ADDRESS} in suppressions.diagnostic`,
        ]),
      );
      expect(await ask('select act from audit_log order by position')).not.toEqual([]);
      expect(before.filter((trace) => trace.includes('audit_'))).toEqual([]);

      const { id } = await erase({ address: ADDRESS.toUpperCase() });
      await waitUntilErased(id);
      const { erased } = await recordOf(id);
      expect(erased).toMatchObject({
        emails: 13,
        drafts: 4,
        quarantined: 1,
        // Hers, and those in which two others mention her.
        suppressions: 3,
        unsubscribes: 1,
        idempotency_keys: 2,
      });
      expect(erased['files']).toBeGreaterThan(0);
      // The address, unless a deleted email already took it along, and the name with the company.
      expect([1, 2]).toContain(erased['customer_rules']);
      expect(erased['events']).toBeGreaterThan(8);
      expect(erased['webhook_deliveries']).toBeGreaterThan(0);
      await waitUntil('events are numbered', async () => (await ask('select from event_inbox')).length === 0);
      // Documented: LMDB keeps pages that it no longer uses until it writes over them.
      const isJournal = (place: string) => place.includes(join(service.dataDir, 'journal'));
      expect((await traces()).filter((trace) => !isJournal(trace))).toEqual([]);

      // Mail of others stays, and erased data does not come back.
      expect((await ask('select id from emails')).map((row) => row['id']).sort()).toEqual(
        [other.id, ...kept].sort(),
      );
      expect(await (await service.request(`/api/attachments/${sharedFile}`)).text()).toBe(SHARED);
      for (const { place, text } of await answers()) {
        expect(
          TRACES.filter((trace) => text.includes(trace)),
          place,
        ).toEqual([]);
      }
      expect(await ask('select id from drafts')).toEqual([{ id: keptDraft.id }]);
      expect(await ask('select id from draft_files')).toEqual([]);
      // A start begins with a new file if the journal holds no send.
      await service.kill();
      service = await startServiceProcess({ env: env(), dataDir: service.dataDir });
      expect(await traces()).toEqual([]);
      expect(await receive(service, byLmtp)).toMatchObject({ status: 'deleted' });
      expect(await receive(service, byImap)).toMatchObject({ status: 'deleted' });
      expect(await receive(service, imported)).toMatchObject({ status: 'deleted' });
      // Nothing is sent to a suppressed address, even though the address is no longer known.
      const refused = await post('/api/send', { to: ADDRESS, subject: 'Hallo', text_body: '-' });
      expect(refused.status).toBe(422);
      expect((await service.request(`/api/suppressions/${ADDRESS}`)).status).toBe(200);
      // Nor is the address back on a list that it left.
      const left = await getJson<{ unsubscribes: object[] }>(service, `/api/unsubscribes?address=${ADDRESS}`);
      expect(left.unsubscribes).toHaveLength(1);
      // A second erasure finds nothing.
      const again = await erase({ address: ADDRESS });
      await waitUntilErased(again.id);
      const { erased: nothing } = await recordOf(again.id);
      expect(Object.values(nothing).every((count) => count === 0)).toBe(true);
      // New mail is recorded like any other.
      expect(await receive(service, hers({ subject: 'Neu' }))).toMatchObject({ status: 'received' });
    },
  );

  it('with drafts that name them in any field, and leaves those that only speak of them', async () => {
    const address = `eve@${randomUUID()}.test`;
    const message = async (fields: object) =>
      (await (await service.request('/api/drafts', { json: { message: fields } })).json()) as { id: string };
    await message({ to: [`${OTHER},\n${address.toUpperCase()}`] });
    await message({ reply_to: address });
    await message({ headers: { 'X-About': `<${address}>` } });
    const kept = [
      await message({ subject: address, text_body: address, html_body: address }),
      await message({ to: `not-${address}`, text_body: 'x' }),
    ];
    const ids = async () =>
      (await ask('select id from drafts where message like $1', [`%${address.slice(5)}%`])).map(
        ({ id }) => id,
      );
    const { id } = await erase({ address });
    await waitUntilErased(id);
    expect((await recordOf(id)).erased['drafts']).toBe(3);
    expect((await ids()).sort()).toEqual(kept.map((one) => one.id).sort());
  });

  it('is refused for an address of an account, for both and for none', async () => {
    const codeOf = async (json: object) =>
      ((await (await service.request('/api/erasures', { json })).json()) as { code: string }).code;
    expect(await codeOf({ address: 'BOB@example.test' })).toBe('own_address');
    expect(await codeOf({})).toBe('invalid_request');
    expect(await codeOf({ address: ADDRESS, customer_id: CUSTOMER })).toBe('invalid_request');
    expect(await codeOf({ address: 'no address' })).toBe('invalid_address');
    expect((await service.request(`/api/erasures/${randomUUID()}`)).status).toBe(404);
    expect((await service.request('/api/erasures/zoe')).status).toBe(400);
  });

  it('with mail that names them in a field that the record does not have, or in a variant', async () => {
    const address = `field@${randomUUID()}.test`;
    const add = (...headers: string[]) => receive(service, mail({ from: OTHER, headers }));
    const hers = [
      await add(`Resent-To: Zoe\r\n <${address}>`),
      await add(`Delivered-To: ${address.toUpperCase()}`),
      await receive(service, mail({ from: `${OTHER}, Zoe <${address}>` })),
    ];
    const copied = { messageId: newId(), from: OTHER, body: 'Wir kommen am Montag um zehn Uhr.' };
    hers.push(await receive(service, mail(copied)));
    await receive(service, mail({ ...copied, headers: [`Cc: ${address}`] }));
    const theirs = [
      await add(`X-Note: ${address}`, 'X-Zero: \0'),
      await receive(service, mail({ from: OTHER, subject: address, body: `To: ${address}` })),
    ];
    await waitUntilErased((await erase({ address })).id);
    const states = async (emails: readonly { id: string }[]) =>
      Promise.all(emails.map(async ({ id }) => (await service.request(`/api/emails/${id}`)).status));
    expect(await states(hers)).toEqual([404, 404, 404, 404]);
    expect(await states(theirs)).toEqual([200, 200]);
  });

  it('waits for an email that is being sent at this moment, and says so', async () => {
    const address = `busy@${randomUUID()}.test`;
    sink.close();
    const send = (to: string) =>
      made<{ id: string }>(
        service.request('/api/send', {
          json: { to, subject: 'Gerade', text_body: '-' },
          headers: { prefer: 'respond-async' },
        }),
      );
    const { id: emailId } = await send(address);
    await sink.reached();
    await waitUntil('it is being sent', async () => {
      const [row] = await ask('select state from emails where id = $1', [emailId]);
      return row?.['state'] === 'sending';
    });
    await waitUntilPosted();
    const { id } = await erase({ address });
    try {
      await waitUntil('it waits', async () => (await recordOf(id)).state === 'waiting');
      expect(await recordOf(id)).toMatchObject({ finished_at: null, erased: { emails: 0 } });
    } finally {
      sink.open();
    }
    await waitUntilErased(id);
    expect(await recordOf(id)).toMatchObject({ state: 'done', erased: { emails: 1 } });
    expect(sink.messages.filter(({ rcptTo }) => rcptTo.includes(address))).toHaveLength(1);
    // An endpoint's answer from that very moment is erased by the next erasure.
    await waitUntilPosted();
    await waitUntilErased((await erase({ address })).id);
    for await (const { place, text } of everything()) expect(text.includes(address), place).toBe(false);
  });

  it('while mail of the person arrives and two erasures run: what is left is whole, and goes with the next', async () => {
    const address = `late@${randomUUID()}.test`;
    const word = `wort${randomUUID().slice(0, 8)}`;
    const write = (index: number) =>
      receive(
        service,
        mail({ from: address, to: 'bob@example.test', subject: `${word} ${index}`, body: `${word} Brief` }),
      );
    for (let index = 0; index < 20; index += 1) await write(index);
    const enough = new AbortController();
    const arriving = (async () => {
      const received: { readonly id: string; readonly status: string }[] = [];
      for (let index = 100; !enough.signal.aborted || received.length < 10; index += 1)
        received.push(await write(index));
      return received;
    })();
    const ids = await Promise.all([erase({ address }), erase({ address })]);
    for (const { id } of ids) await waitUntilErased(id);
    enough.abort();
    const received = await arriving;
    expect(new Set(received.map(({ status }) => status))).toEqual(new Set(['received']));
    await waitUntil('all is numbered, and found', async () => {
      const [row] = await ask(
        'select (select count(*) from event_inbox)::int + (select count(*) from search_queue)::int as waiting',
      );
      return row?.['waiting'] === 0;
    });
    const there = new Set((await ask('select id from emails')).map((row) => row['id']));
    const found: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: { emails: { id: string }[]; next_cursor: string | null } = await getJson(
        service,
        `/api/emails?q=${word}&limit=200${next === '' ? '' : `&cursor=${next}`}`,
      );
      found.push(...page.emails.map(({ id }) => id));
      next = page.next_cursor;
    }
    const left = received.filter(({ id }) => there.has(id));
    expect(found.sort()).toEqual(left.map(({ id }) => id).sort());
    for (const { id } of received) {
      const answer = await service.request(`/api/emails/${id}/raw`);
      expect([id, answer.status]).toEqual([id, there.has(id) ? 200 : 404]);
    }
    await waitUntilPosted();
    const last = await erase({ address });
    await waitUntilErased(last.id);
    await waitUntilPosted();
    for await (const { place, text } of everything()) {
      expect(text.includes(address) || text.includes(word), place).toBe(false);
    }
  });

  it('with everything of a customer, also when the service is killed in between', async () => {
    const customer = randomUUID();
    const people = Array.from({ length: 8 }, (_, index) => `person${index}@${customer.slice(0, 8)}.test`);
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        people.map((address) =>
          sendJson(service, {
            to: address,
            subject: `Runde ${round}`,
            text_body: '-',
            customer_id: customer,
          }),
        ),
      );
    }
    await receive(service, mail({ from: people[0] ?? '', to: 'bob@example.test' }));
    const asked = await service.request('/api/erasures', { json: { customer_id: customer } });
    const { id } = (await asked.json()) as { id: string };
    for (let kills = 0; kills < 3; kills += 1) {
      const { dataDir } = service;
      await waitUntil('some of it is done', async () => {
        const [row] = await ask(
          `select finished_at, coalesce((erased ->> 'emails')::int, 0) as emails from erasures where id = $1`,
          [id],
        );
        return row?.['finished_at'] !== null || Number(row['emails']) > kills * 50;
      });
      await service.kill();
      // A dead process does not block the next erasure for the length of its lease.
      await ask('update erasures set owner = null, lease_until = null where finished_at is null');
      service = await startServiceProcess({ env: env(), dataDir });
    }
    await waitUntil('it is done', async () => {
      const { state } = await getJson<{ state: string }>(service, `/api/erasures/${id}`);
      return state === 'done';
    });
    expect(await getJson(service, `/api/erasures/${id}`)).toMatchObject({
      erased: { emails: 161 },
    });
    for await (const { place, text } of everything()) {
      expect(text.includes(`@${customer.slice(0, 8)}.test`), place).toBe(false);
    }
  });
});
