/** Mail with one identity, in any order and at the same moment: one record, and each content once. */
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

const arrivals = fc.array(
  fc.record({ content: fc.nat(3), isSentCopy: fc.boolean(), hasTrace: fc.boolean(), service: fc.nat(1) }),
  { minLength: 1, maxLength: 8 },
);

it('the record and its variants hold each content once, in any order and at once', async () => {
  const property = fc.asyncProperty(arrivals, fc.boolean(), async (list, atOnce) => {
    const messageId = newId();
    const give = ({ content, isSentCopy, hasTrace, service }: (typeof list)[number]): Promise<Received> => {
      const raw = mail({ messageId, from: 'sales@example.com', body: `Inhalt ${content}` });
      const way = hasTrace ? `Received: from relay.test\r\n${raw}` : raw;
      return receive(services[service]!, way, isSentCopy ? '?sent=true' : '');
    };
    const answers: Received[] = [];
    if (atOnce) answers.push(...(await Promise.all(list.map(give))));
    else for (const arrival of list) answers.push(await give(arrival));

    const ids = new Set(answers.map(({ id }) => id));
    expect(ids.size).toBe(1);
    expect(answers.filter(({ status }) => status === 'received')).toHaveLength(1);
    const [record] = await query(
      database.connectionString,
      `select direction, text_body, convert_from(raw, 'utf8') as raw,
        array(select convert_from(raw, 'utf8') from email_variants v where v.email_id = e.id) as variants
      from emails e where message_id = $1`,
      [messageId.slice(1, -1)],
    );
    const {
      direction,
      raw,
      variants,
      text_body: text,
    } = record as {
      direction: string;
      raw: string;
      variants: string[];
      text_body: string;
    };
    const contentOf = (message: string) => Number(/Inhalt (\d)/.exec(message)?.[1]);
    const contents = [...new Set(list.map(({ content }) => content))].sort();
    expect([raw, ...variants].map(contentOf).sort()).toEqual(contents);
    expect(contentOf(text)).toBe(contentOf(raw));
    const sent = list.filter(({ isSentCopy }) => isSentCopy).map(({ content }) => content);
    expect(direction).toBe(sent.length === 0 ? 'inbound' : 'outbound');
    expect(sent.length === 0 || sent.includes(contentOf(raw))).toBe(true);
  });
  await fc.assert(property, { numRuns: runs(25) });
});
