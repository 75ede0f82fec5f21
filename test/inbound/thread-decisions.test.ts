/** Operators' decisions about threads, and that they outlive later mail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, newId, receive, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: await writeAccounts('sales', 'support') },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

interface Decided {
  readonly status: number;
  readonly thread_id: string;
  readonly changed: boolean;
  readonly decision_id: string | null;
  readonly code?: string;
}

async function decide(threadId: string, verb: string, body: object): Promise<Decided> {
  const response = await service.request(`/api/thread/${threadId}/${verb}`, { json: body });
  return { status: response.status, ...((await response.json()) as Omit<Decided, 'status'>) };
}

const split = (threadId: string, ...emails: readonly Received[]) =>
  decide(threadId, 'split', { email_ids: emails.map(({ id }) => id) });
const move = (threadId: string, ...emails: readonly Received[]) =>
  decide(threadId, 'move', { email_ids: emails.map(({ id }) => id) });
const merge = (threadId: string, other: string) => decide(threadId, 'merge', { thread_id: other });

/** Ids of the emails in the thread to which the identifier leads. */
async function emailsOf(threadId: string): Promise<string[]> {
  const response = await service.request(`/api/thread/${threadId}`);
  const { emails } = (await response.json()) as { emails: { id: string }[] };
  return emails.map(({ id }) => id).sort();
}

const idsOf = (...emails: readonly Received[]) => emails.map(({ id }) => id).sort();

async function threadOf({ id }: Received): Promise<string> {
  const response = await service.request(`/api/emails/${id}`);
  return ((await response.json()) as { thread_id: string }).thread_id;
}

/** A conversation: a question and answers, each naming all before it. */
async function conversation(
  length: number,
): Promise<{ ids: string[]; emails: Received[]; threadId: string }> {
  const ids = Array.from({ length }, newId);
  const emails: Received[] = [];
  for (const [index, messageId] of ids.entries()) {
    emails.push(await reply(ids.slice(0, index), messageId));
  }
  return { ids, emails, threadId: emails[0]!.threadId };
}

/** An answer to the last of `ids`, which names all of them. */
function reply(ids: readonly string[], messageId = newId(), date?: string): Promise<Received> {
  return receive(
    service,
    mail({
      messageId,
      ...(ids.length === 0 ? {} : { inReplyTo: ids.at(-1)!, references: ids }),
      ...(date === undefined ? {} : { date }),
    }),
  );
}

describe('a split', () => {
  it('gives the emails a thread of their own, and the old identifier stays with the others', async () => {
    const { ids, emails, threadId } = await conversation(4);
    const decided = await split(threadId, emails[2]!, emails[3]!);
    expect(decided).toMatchObject({ status: 200, changed: true });
    expect(decided.thread_id).not.toBe(threadId);
    expect(await emailsOf(threadId)).toEqual(idsOf(emails[0]!, emails[1]!));
    expect(await emailsOf(decided.thread_id)).toEqual(idsOf(emails[2]!, emails[3]!));

    // A reply goes to the thread of the email that it answers, even though its References name both sides.
    const toNew = await reply(ids);
    expect(toNew.threadId).toBe(decided.thread_id);
    const toOld = await reply(ids.slice(0, 2));
    expect(toOld.threadId).toBe(threadId);
    // So does a reply to a reply that has not come yet.
    const missing = newId();
    const late = await reply([...ids, missing]);
    expect(late.threadId).toBe(decided.thread_id);
    expect((await reply(ids, missing)).threadId).toBe(decided.thread_id);
    expect(await emailsOf(threadId)).toEqual(idsOf(emails[0]!, emails[1]!, toOld));
  });

  it('says in the emails that it put them there', async () => {
    const { emails, threadId } = await conversation(2);
    await split(threadId, emails[1]!);
    const email = (await (await service.request(`/api/emails/${emails[1]!.id}`)).json()) as object;
    expect(email).toMatchObject({ placement: { rule: 'decision', matched_message_id: null } });
  });

  it('is done once, however often it is asked for, also at the same moment', async () => {
    const { emails, threadId } = await conversation(4);
    const results = await Promise.all(
      Array.from({ length: 5 }, () => split(threadId, emails[3]!, emails[1]!)),
    );
    expect(new Set(results.map((result) => result.thread_id)).size).toBe(1);
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(new Set(results.map((result) => result.decision_id)).size).toBe(1);
    expect(await split(threadId, emails[1]!, emails[3]!, emails[3]!)).toMatchObject({
      status: 200,
      changed: false,
    });
  });

  it('may be made of what was split off, and of what is left, and all stay apart', async () => {
    const { ids, emails, threadId } = await conversation(4);
    const second = await split(threadId, emails[2]!, emails[3]!);
    const third = await split(second.thread_id, emails[3]!);
    const fourth = await split(threadId, emails[1]!);
    const threads = [threadId, fourth.thread_id, second.thread_id, third.thread_id];
    expect(new Set(threads).size).toBe(4);
    // An email that names all four.
    const all = await reply(ids);
    expect(all.threadId).toBe(third.thread_id);
    for (const [index, id] of threads.slice(0, 3).entries()) {
      expect(await emailsOf(id)).toEqual(idsOf(emails[index]!));
    }
  });

  it('keeps a new conversation that names both sides on one, the same for any order', async () => {
    const outcomes: string[][] = [];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const { ids, emails, threadId } = await conversation(2);
      const other = await split(threadId, emails[1]!);
      const chain = [newId(), newId(), newId()];
      const texts = [
        [ids[0]!],
        [ids[1]!],
        // Names both, and answers the first one directly.
        [chain[1]!, chain[0]!],
      ];
      const received: Received[] = [];
      for (const index of order) received[index] = await reply(texts[index]!, chain[index]!);
      const threads = await Promise.all(received.map(threadOf));
      outcomes.push(threads.map((id) => (id === threadId ? 'old' : id === other.thread_id ? 'new' : 'none')));
    }
    expect(outcomes).toEqual([outcomes[0], outcomes[0], outcomes[0]]);
    expect(outcomes[0]).toEqual(['old', 'new', 'old']);
  });

  it('is refused with the reason when it is impossible', async () => {
    const { emails, threadId } = await conversation(2);
    const stranger = await reply([]);
    expect(await split(threadId, ...emails)).toMatchObject({ status: 409, code: 'thread_would_be_empty' });
    expect(await split(threadId, stranger)).toMatchObject({ status: 409, code: 'email_not_in_thread' });
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await split(unknown, stranger)).toMatchObject({ status: 404, code: 'thread_not_found' });
    expect(await decide(threadId, 'split', { email_ids: [unknown] })).toMatchObject({
      status: 404,
      code: 'email_not_found',
    });
    const tooMany = Array.from({ length: 1001 }, () => unknown);
    for (const body of [
      { email_ids: [] },
      { email_ids: tooMany },
      { email_ids: ['x'] },
      { reason: 'x' },
      [],
    ]) {
      expect((await decide(threadId, 'split', body)).status).toBe(400);
    }
    expect((await decide(threadId, 'split', { email_ids: [emails[0]!.id], reason: 'a\u0000b' })).status).toBe(
      400,
    );
    expect(await emailsOf(threadId)).toEqual(idsOf(...emails));
  });

  it('leaves the emails with the customer that their address gives', async () => {
    const customer = '7d8c5a5e-1111-4222-8333-444455556666';
    const sent = await service.request('/api/send', {
      json: { to: 'ada@customer.test', subject: 'A', text_body: 'a', customer_id: customer },
    });
    const { messageId, threadId } = (await sent.json()) as { messageId: string; threadId: string };
    const [first] = [await reply([messageId])];
    const { thread_id: newThread } = await split(threadId, first);
    const rows = await query(
      database.connectionString,
      'select customer_id from email_threads where id = $1',
      [newThread],
    );
    expect(rows).toEqual([{ customer_id: customer }]);
  });

  it('passes on the customer and the company that a send named', async () => {
    const named = {
      customer_id: '7d8c5a5e-1111-4222-8333-444455556666',
      company_id: '7d8c5a5e-1111-4222-8333-444455556667',
    };
    const sent = await service.request('/api/send', {
      json: { to: 'ada@named.test', cc: 'eve@elsewhere.test', subject: 'A', text_body: 'a', ...named },
    });
    const { messageId, threadId } = (await sent.json()) as { messageId: string; threadId: string };
    // From a participant whose address no rule covers.
    const answer = await receive(service, mail({ inReplyTo: messageId, from: 'eve@elsewhere.test' }));
    const { thread_id: newThread } = await split(threadId, answer);
    const rows = await query(
      database.connectionString,
      'select customer_id, company_id from email_threads where id = any($1)',
      [[threadId, newThread]],
    );
    expect(rows).toEqual([named, named]);
  });
});

describe('a merge by hand', () => {
  it('makes one thread, and both identifiers lead to it', async () => {
    const [a, b] = [await conversation(2), await conversation(2)];
    expect(await merge(b.threadId, a.threadId)).toMatchObject({ changed: true, thread_id: b.threadId });
    const all = idsOf(...a.emails, ...b.emails);
    expect(await emailsOf(a.threadId)).toEqual(all);
    expect(await emailsOf(b.threadId)).toEqual(all);
    expect(await merge(b.threadId, a.threadId)).toMatchObject({ status: 200, changed: false });
    expect(await merge(a.threadId, b.threadId)).toMatchObject({ status: 200, changed: false });
    expect((await reply(a.ids)).threadId).toBe(b.threadId);
  });

  it('takes a split back', async () => {
    const { ids, emails, threadId } = await conversation(3);
    const { thread_id: other } = await split(threadId, emails[2]!);
    await merge(threadId, other);
    expect(await emailsOf(other)).toEqual(idsOf(...emails));
    expect((await reply(ids)).threadId).toBe(threadId);
    expect(await emailsOf(threadId)).toHaveLength(4);
  });

  it('is refused between accounts', async () => {
    const here = await receive(service, mail());
    const response = await service.request('/api/inbound?account_id=support', {
      method: 'POST',
      body: mail(),
      headers: { 'content-type': 'message/rfc822' },
    });
    const there = (await response.json()) as Received;
    expect(await merge(here.threadId, there.threadId)).toMatchObject({
      status: 409,
      code: 'different_accounts',
    });
    expect(await move(here.threadId, there)).toMatchObject({ status: 409, code: 'different_accounts' });
  });
});

describe('a move', () => {
  it('takes emails into another thread, and later mail pulls none of them back', async () => {
    const [a, b] = [await conversation(3), await conversation(1)];
    expect(await move(b.threadId, a.emails[1]!)).toMatchObject({ changed: true, thread_id: b.threadId });
    expect(await emailsOf(b.threadId)).toEqual(idsOf(b.emails[0]!, a.emails[1]!));
    expect(await emailsOf(a.threadId)).toEqual(idsOf(a.emails[0]!, a.emails[2]!));
    const toMoved = await reply(a.ids.slice(0, 2));
    expect(toMoved.threadId).toBe(b.threadId);
    const toOther = await reply(a.ids);
    expect(toOther.threadId).toBe(a.threadId);
    expect(await move(b.threadId, a.emails[1]!)).toMatchObject({ status: 200, changed: false });
    // The last decision counts.
    expect(await move(a.threadId, a.emails[1]!)).toMatchObject({ changed: true });
    expect((await reply(a.ids.slice(0, 2))).threadId).toBe(a.threadId);
    expect(await threadOf(toMoved)).toBe(b.threadId);
  });

  it('of all emails of a thread merges it', async () => {
    const [a, b] = [await conversation(2), await conversation(1)];
    await move(b.threadId, ...a.emails);
    expect(await emailsOf(a.threadId)).toEqual(idsOf(...a.emails, ...b.emails));
    expect((await reply(a.ids)).threadId).toBe(b.threadId);
  });

  it('takes one of two emails with the same Message-ID; replies stay with the other', async () => {
    const messageId = newId();
    const first = await receive(service, mail({ messageId, subject: 'One' }));
    const second = await receive(service, mail({ messageId, subject: 'Two' }));
    expect(second.threadId).toBe(first.threadId);
    const { thread_id: other } = await split(first.threadId, second);
    expect(await emailsOf(other)).toEqual([second.id]);
    expect((await reply([messageId])).threadId).toBe(first.threadId);
    const third = await receive(service, mail({ messageId, subject: 'Three' }));
    expect(third.threadId).toBe(first.threadId);
    expect(await emailsOf(other)).toEqual([second.id]);
  });
});

describe('decisions and merges by later mail', () => {
  it('follow a thread that is merged', async () => {
    const older = await conversation(1);
    const { ids, emails, threadId } = await conversation(2);
    const { thread_id: split2 } = await split(threadId, emails[1]!);
    // Links the remaining part with an older thread.
    await reply([older.ids[0]!, ids[0]!]);
    expect(await threadOf(emails[0]!)).toBe(older.threadId);
    expect(await emailsOf(threadId)).toEqual(await emailsOf(older.threadId));
    // The part from which it was separated stays apart from the whole.
    const both = await reply([older.ids[0]!, ids[1]!], newId(), 'Mon, 02 Mar 2026 12:00:00 +0100');
    expect(both.threadId).toBe(split2);
    expect(await threadOf(older.emails[0]!)).toBe(older.threadId);
  });

  it('are not changed by mail that comes while they are made', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { ids, emails, threadId } = await conversation(3);
      const [decided, ...replies] = await Promise.all([
        split(threadId, emails[1]!, emails[2]!),
        ...Array.from({ length: 6 }, (_, index) => reply(ids.slice(0, (index % 3) + 1))),
      ]);
      expect(decided).toMatchObject({ status: 200, changed: true });
      // Replies that came before the decision stayed: it named the emails that leave.
      const now = await Promise.all(replies.map(threadOf));
      expect(now.filter((_, index) => index % 3 === 0)).toEqual([threadId, threadId]);
      expect([threadId, decided.thread_id]).toEqual(expect.arrayContaining(now));
      expect((await reply(ids)).threadId).toBe(decided.thread_id);
      expect((await reply(ids.slice(0, 1))).threadId).toBe(threadId);
    }
  });

  it('place what is sent', async () => {
    const { ids, emails, threadId } = await conversation(3);
    const { thread_id: other } = await split(threadId, emails[2]!);
    const send = async (fields: object) => {
      const response = await service.request('/api/send', {
        json: { to: 'ada@customer.test', subject: 'Re', text_body: 'x', ...fields },
      });
      return (await response.json()) as { id: string; threadId: string; messageId: string };
    };
    expect((await send({ in_reply_to: ids[2] })).threadId).toBe(other);
    expect((await send({ in_reply_to: ids[1] })).threadId).toBe(threadId);
    const inThread = await send({ thread_id: other });
    const stored = (await (await service.request(`/api/emails/${inThread.id}`)).json()) as {
      thread_id: string;
      references: string[];
    };
    expect(stored.thread_id).toBe(other);
    expect((await reply([...stored.references, inThread.messageId])).threadId).toBe(other);
    expect(await emailsOf(threadId)).toHaveLength(3);
  });
});

describe('the placement of an email', () => {
  interface Explained {
    readonly rule: string;
    readonly matched_message_id: string | null;
    readonly matched_emails: readonly { id: string }[];
    readonly first_named_by: { id: string } | null;
    readonly chain: readonly { email_id: string; rule: string; message_id: string | null }[];
    readonly merges: readonly { thread_id: string; merged_at: string }[];
    readonly decisions: readonly object[];
    readonly explanation: string;
    readonly thread_id: string;
  }
  async function explain({ id }: Received): Promise<Explained> {
    const response = await service.request(`/api/emails/${id}/placement`);
    expect(response.status).toBe(200);
    return (await response.json()) as Explained;
  }

  it('names what it answers, and the chain to the first email', async () => {
    const { ids, emails } = await conversation(3);
    expect(await explain(emails[0]!)).toMatchObject({
      rule: 'new',
      matched_message_id: null,
      matched_emails: [],
      first_named_by: null,
      chain: [],
      merges: [],
      decisions: [],
      explanation: 'Nothing it names was known, so it began this thread.',
    });
    const last = await explain(await receive(service, mail({ inReplyTo: ids[2]! })));
    expect(last).toMatchObject({
      rule: 'in_reply_to',
      matched_message_id: ids[2],
      matched_emails: [{ id: emails[2]!.id }],
    });
    expect(last.chain.map(({ rule, message_id }) => [rule, message_id])).toEqual([
      ['in_reply_to', ids[2]],
      ['message_id', ids[2]],
      ['references', ids[0]],
      ['message_id', ids[0]],
    ]);
    expect(last.explanation).toContain(
      `It answers ${ids[2]!}, which is the Message-ID of email ${emails[2]!.id}`,
    );
  });

  it('names the merge that a late email made', async () => {
    const missing = newId();
    const first = await reply([]);
    const second = await receive(service, mail({ inReplyTo: missing }));
    const third = await receive(service, mail({ messageId: missing, inReplyTo: first.messageId }));
    const explained = await explain(second);
    expect(explained).toMatchObject({ rule: 'new', merges: [{ thread_id: second.threadId }] });
    expect(explained.chain[0]).toEqual({ email_id: second.id, rule: 'in_reply_to', message_id: missing });
    expect(explained.explanation).toContain('later mail tied it');
    expect((await explain(third)).thread_id).toBe(first.threadId);
  });

  it('names the decisions, with their reasons', async () => {
    const { emails, threadId } = await conversation(2);
    const { decision_id: id, thread_id: other } = await decide(threadId, 'split', {
      email_ids: [emails[1]!.id],
      reason: 'another order',
    });
    const decision = {
      id,
      kind: 'split',
      thread_id: threadId,
      other_thread_id: other,
      names_email: true,
      reason: 'another order',
    };
    const explained = await explain(emails[1]!);
    expect(explained).toMatchObject({ rule: 'decision', decisions: [decision] });
    expect(explained.explanation).toMatch(/^An operator split it off at 20/);
    expect((await explain(emails[0]!)).decisions).toMatchObject([{ ...decision, names_email: false }]);

    await decide(threadId, 'merge', { thread_id: other });
    expect((await explain(emails[1]!)).explanation).toMatch(
      new RegExp(`^An operator split it off at 20.*; thread ${other} became this one at 20`),
    );
  });

  it('is not there for an email that is not', async () => {
    const response = await service.request('/api/emails/00000000-0000-4000-8000-000000000000/placement');
    expect(response.status).toBe(404);
  });
});
