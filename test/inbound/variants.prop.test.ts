/** Different bytes are never lost: each message is a record of its own or a variant of one, whatever came before or at the same moment. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, newId, receive, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { runs } from '../helpers/runs.ts';

let database: TestDatabase;
let services: readonly ServiceProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.connectionString, MAIL_FROM: 'sales@example.com' };
  services = [await startServiceProcess({ env }), await startServiceProcess({ env })];
});
afterAll(async () => {
  await Promise.all(services.map(disposeService));
  await database.drop();
});

/** The bytes of all records and variants with that subject, or only of one of the records. */
async function keptWith(subject: string, id: string | null = null): Promise<readonly string[]> {
  const rows = await query(
    database.connectionString,
    `with e as (select id, raw from emails where subject = $1 and id = coalesce($2::uuid, id))
    select convert_from(raw, 'utf8') as raw from e
    union all
    select convert_from(v.raw, 'utf8') from email_variants v join e on e.id = v.email_id`,
    [subject, id],
  );
  return rows.map(({ raw }) => raw as string);
}

const ofOneSender = fc.array(
  fc.record({ content: fc.nat(3), isSentCopy: fc.boolean(), hasTrace: fc.boolean(), service: fc.nat(1) }),
  { minLength: 1, maxLength: 8 },
);

it('mail from the own address with one identity is one record, and each of its messages is kept once', async () => {
  const property = fc.asyncProperty(ofOneSender, fc.boolean(), async (list, atOnce) => {
    const messageId = newId();
    const subject = randomUUID();
    const toRaw = ({ content, hasTrace }: (typeof list)[number]): string => {
      const raw = mail({ messageId, subject, from: 'sales@example.com', body: `Inhalt ${content}` });
      return hasTrace ? `Received: from relay.test\r\n${raw}` : raw;
    };
    const give = (arrival: (typeof list)[number]): Promise<Received> =>
      receive(services[arrival.service]!, toRaw(arrival), arrival.isSentCopy ? '?sent=true' : '');
    const answers: Received[] = [];
    if (atOnce) answers.push(...(await Promise.all(list.map(give))));
    else for (const arrival of list) answers.push(await give(arrival));

    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 'received')).toHaveLength(1);
    expect((await keptWith(subject)).toSorted()).toEqual([...new Set(list.map(toRaw))].sort());
    const [record] = await query(
      database.connectionString,
      `select direction, text_body, convert_from(raw, 'utf8') as raw from emails where subject = $1`,
      [subject],
    );
    const {
      direction,
      raw,
      text_body: text,
    } = record as { direction: string; raw: string; text_body: string };
    const contentOf = (message: string) => Number(/Inhalt (\d)/.exec(message)?.[1]);
    expect(contentOf(text)).toBe(contentOf(raw));
    const sent = list.filter(({ isSentCopy }) => isSentCopy).map(({ content }) => content);
    expect(direction).toBe(sent.length === 0 ? 'inbound' : 'outbound');
    expect(sent.length === 0 || sent.includes(contentOf(raw))).toBe(true);
  });
  await fc.assert(property, { numRuns: runs(25) });
});

const TEXT = 'Bitte rufen Sie mich wegen meiner Bestellung zurück.';
const ofStrangers = fc.array(
  fc.record({
    hasId: fc.boolean(),
    hasDate: fc.boolean(),
    replyTo: fc.constantFrom('', 'Reply-To: eva@kunde.test', 'Reply-To: max@kunde.test'),
    parent: fc.constantFrom('', 'In-Reply-To: <frage@kunde.test>'),
    trace: fc.constantFrom('', 'Received: from relay.test; now', 'X-Spam-Score: 3'),
    list: fc.constantFrom('', 'List-Id: <kunden.shop.test>'),
    body: fc.constantFrom('', 'Rückruf', TEXT, `${TEXT}\r\n-- \r\nListe`, `Wo ist mein Paket? ${TEXT}`),
    service: fc.nat(1),
  }),
  { minLength: 2, maxLength: 8 },
);

it('of messages that a sender gave one Message-ID, or none, each can be read back byte for byte', async () => {
  const property = fc.asyncProperty(ofStrangers, fc.boolean(), fc.nat(), async (list, atOnce, deleted) => {
    const id = newId();
    const subject = randomUUID();
    const toRaw = ({
      hasId,
      hasDate,
      replyTo,
      parent,
      trace,
      list: by,
      body,
    }: (typeof list)[number]): string => {
      const headers = [replyTo, parent, by].filter((line) => line !== '');
      const raw = mail({ messageId: hasId ? id : null, from: 'form@shop.test', subject, headers, body });
      const dated = hasDate ? raw : raw.replace(/Date: .*\r\n/, '');
      return trace === '' ? dated : `${trace}\r\n${dated}`;
    };
    const give = (arrival: (typeof list)[number]) => receive(services[arrival.service]!, toRaw(arrival));
    if (atOnce) await Promise.all(list.map(give));
    else for (const arrival of list) await give(arrival);
    // Given again, nothing is added.
    for (const arrival of list) expect((await give(arrival)).status).toBe('duplicate');
    expect((await keptWith(subject)).toSorted()).toEqual([...new Set(list.map(toRaw))].sort());
    // After one was deleted, nothing that was kept with it is an email again, and everything else is kept as before.
    const { id: emailId } = await give(list[deleted % list.length]!);
    const ofDeleted = await keptWith(subject, emailId);
    await services[0]!.request(`/api/emails/${emailId}`, { method: 'DELETE' });
    for (const arrival of list) {
      const { status } = await give(arrival);
      // It may be the same email as one that is left.
      const isExpected =
        status === 'duplicate' || (status === 'deleted' && ofDeleted.includes(toRaw(arrival)));
      expect(isExpected, `${status}: ${toRaw(arrival)}`).toBe(true);
    }
    expect(new Set([...(await keptWith(subject)), ...ofDeleted])).toEqual(new Set(list.map(toRaw)));
  });
  await fc.assert(property, { numRuns: runs(25) });
});
