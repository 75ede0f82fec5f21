/** Laws of receiving: threads do not depend on the order of arrival, on repeats or on simultaneous arrival. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numbered } from '../helpers/groups.ts';
import { mail, newId, post, receive, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { runs } from '../helpers/runs.ts';

let database: TestDatabase;
let services: readonly ServiceProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.connectionString };
  // Two processes on one database: laws that hold within one must hold between them.
  services = [await startServiceProcess({ env }), await startServiceProcess({ env })];
});
afterAll(async () => {
  await Promise.all(services.map(disposeService));
  await database.drop();
});

/** The earlier or later mails that each one names, by index. Also itself, and ids that no mail has. */
const conversation = fc.array(
  fc.record({
    inReplyTo: fc.option(fc.nat(7), { nil: null }),
    references: fc.array(fc.nat(9), { maxLength: 3 }),
  }),
  { minLength: 2, maxLength: 7 },
);
type Conversation = typeof conversation extends fc.Arbitrary<infer T> ? T : never;

function toMails(links: Conversation): readonly string[] {
  const ids = Array.from({ length: 10 }, newId);
  return links.map(({ inReplyTo, references }, index) =>
    mail({
      messageId: ids[index]!,
      subject: `Mail ${index}`,
      ...(inReplyTo === null ? {} : { inReplyTo: ids[inReplyTo]! }),
      ...(references.length === 0 ? {} : { references: references.map((to) => ids[to]!) }),
    }),
  );
}

/** The groups that the links form, as the number of each mail's group; the rule in its simplest form. */
function groupsOf(links: Conversation): readonly number[] {
  const group = Array.from({ length: 10 }, (_, index) => index);
  const join = (a: number, b: number) => {
    const [from, to] = [group[a]!, group[b]!];
    for (const [index, value] of group.entries()) if (value === from) group[index] = to;
  };
  links.forEach(({ inReplyTo, references }, index) => {
    for (const other of inReplyTo === null ? references : [inReplyTo, ...references]) join(index, other);
  });
  return numbered(links.map((_, index) => group[index]!));
}

/** The current thread of each email. */
async function threadsOf(received: readonly Received[]): Promise<readonly string[]> {
  const ids = received.map(({ id }) => id);
  const rows = await query(database.connectionString, 'select id, thread_id from emails where id = any($1)', [
    ids,
  ]);
  expect(rows).toHaveLength(new Set(ids).size);
  return ids.map((id) => String(rows.find((row) => row.id === id)!.thread_id));
}

describe('threads', () => {
  it('are the same for any order, with repeats, one after the other and all at once', async () => {
    const property = fc.asyncProperty(
      conversation.chain((links) =>
        fc.record({
          links: fc.constant(links),
          order: fc.shuffledSubarray([...links.keys(), ...links.keys()], {
            minLength: 2 * links.length,
          }),
          atOnce: fc.boolean(),
        }),
      ),
      async ({ links, order, atOnce }) => {
        const mails = toMails(links);
        const answers: Received[][] = mails.map(() => []);
        const give = async (index: number, turn: number) => {
          answers[index]!.push(await receive(services[turn % 2]!, mails[index]!));
        };
        if (atOnce) await Promise.all(order.map(give));
        else for (const [turn, index] of order.entries()) await give(index, turn);

        for (const pair of answers) {
          expect(pair.map(({ status }) => status).sort()).toEqual(['duplicate', 'received']);
          expect(pair[0]!.id).toBe(pair[1]!.id);
        }
        const received = answers.map(([answer]) => answer!);
        const threads = await threadsOf(received);
        expect(numbered(threads)).toEqual(groupsOf(links));
        // Every identifier that was given out still leads to the thread, merged or not.
        for (const [index, given] of answers.entries()) {
          for (const { threadId } of given) {
            const response = await services[0]!.request(`/api/thread/${threadId}`);
            const { emails } = (await response.json()) as { emails: { id: string }[] };
            expect(emails.map(({ id }) => id)).toContain(received[index]!.id);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: runs(40), endOnFailure: true });
  });
});

describe('broken mail', () => {
  const bases = [
    mail({ subject: '=?utf-8?q?Gr=C3=BC=C3=9Fe?=', references: [newId(), newId()] }),
    mail({
      messageId: null,
      headers: ['Content-Type: multipart/mixed; boundary="b1"', 'Auto-Submitted: auto-replied'],
      body: [
        '--b1\r\nContent-Type: multipart/alternative; boundary=b2\r\n',
        '--b2\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n',
        'Gr=FC=DFe=\r\n!\r\n--b2\r\nContent-Type: text/html\r\n\r\n<p>Gr&uuml;&szlig;e</p>\r\n--b2--\r\n--b1',
        'Content-Type: message/rfc822\r\n\r\nSubject: innen\r\n\r\nx\r\n--b1',
        "Content-Type: application/pdf; name*=utf-8''%C3%A4.pdf\r\nContent-Transfer-Encoding: base64\r\n",
        'JVBERi0xLjQK\r\n--b1--',
      ].join('\r\n'),
    }),
    mail({
      headers: ['Content-Type: multipart/report; report-type=delivery-status; boundary=b'],
      body: '--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; a\r\n\r\nFinal-Recipient: rfc822; a@b.test\r\nAction: failed\r\n--b--',
    }),
  ].map((text) => Buffer.from(text));

  /** Cuts out a piece, doubles it or overwrites it with bytes that hurt parsers. */
  const mutation = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    put: fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc
        .constantFrom(
          '\0',
          '\r\n',
          '\n\n',
          '\ud800',
          '<',
          '"',
          '=?utf-8?b?',
          '--b1',
          '(',
          '\\',
          'Message-ID: <\0@x>\r\n',
        )
        .map((text) => Buffer.from(text)),
    ),
    repeat: fc.constantFrom(1, 1, 1, 3, 500),
  });
  const mutated = fc
    .tuple(fc.constantFrom(...bases), fc.array(mutation, { minLength: 1, maxLength: 6 }))
    .map(([base, mutations]) =>
      mutations.reduce((raw, { at, length, put, repeat }) => {
        const start = Math.floor(at * raw.length);
        const pieces = Array.from({ length: repeat }, () => Buffer.from(put));
        return Buffer.concat([raw.subarray(0, start), ...pieces, raw.subarray(start + length)]);
      }, base),
    );

  it('is recorded, whatever is wrong with it, and found again', async () => {
    const property = fc.asyncProperty(fc.array(mutated, { minLength: 10, maxLength: 10 }), async (raws) => {
      await Promise.all(
        raws.map(async (raw, index) => {
          const service = services[index % 2]!;
          const response = await post(service, raw);
          expect(response.status, `${raw.toString('base64')} ${service.log.at(-1)}`).toBe(200);
          const { id } = (await response.json()) as Received;
          const email = await service.request(`/api/emails/${id}`);
          expect(email.status).toBe(200);
          expect(await receive(service, raw)).toMatchObject({ status: 'duplicate', id });
        }),
      );
    });
    await fc.assert(property, { numRuns: runs(40), endOnFailure: true });
    const log = services.flatMap((service) => service.log).join('\n');
    expect(log).not.toContain('could not be parsed');
  });
});
