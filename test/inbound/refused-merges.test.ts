/** Mail never joins threads that sends named for different customers; operators see such mail and may merge manually. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithDatabase } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

interface Sent {
  readonly id: string;
  readonly messageId: string;
  readonly threadId: string;
  readonly customerId: string;
}

async function send(fields: object = {}, customerId: string = randomUUID()): Promise<Sent> {
  const json = {
    to: `${randomUUID()}@people.test`,
    subject: 'A',
    text_body: 'a',
    customer_id: customerId,
    ...fields,
  };
  const response = await service.request('/api/send', { json });
  if (response.status !== 200) throw new Error(await response.text());
  return { ...((await response.json()) as Omit<Sent, 'customerId'>), customerId };
}

const read = <T>(path: string) => getJson<T>(service, path);

interface Refused {
  readonly email_id: string;
  readonly thread_id: string;
  readonly customer_id: string;
  readonly other_thread_id: string;
  readonly other_customer_id: string;
  readonly message_id: string;
  readonly rule: string;
}
interface Placement {
  readonly thread_id: string;
  readonly rule: string;
  readonly matched_message_id: string;
  readonly refused: readonly Refused[];
  readonly explanation: string;
}

const placementOf = (id: string) => read<Placement>(`/api/emails/${id}/placement`);
const threadOf = async (id: string) => (await read<{ thread_id: string }>(`/api/emails/${id}`)).thread_id;

async function refusedOf(emailId: string): Promise<readonly Refused[]> {
  const all: Refused[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { refused_merges: Refused[]; next_cursor: string | null } = await read(
      `/api/refused-merges?limit=20${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    all.push(...page.refused_merges);
    cursor = page.next_cursor;
  }
  return all.filter((one) => one.email_id === emailId);
}

describe('an email that names threads of different customers', () => {
  it('joins the thread of what it answers, says so, and is listed until an operator merges them', async () => {
    const [a, b] = [await send(), await send()];
    const raw = mail({ inReplyTo: a.messageId, references: [a.messageId, b.messageId] });
    const { id, threadId } = await receive(service, raw);
    expect(threadId).toBe(a.threadId);
    expect(await threadOf(b.id)).toBe(b.threadId);
    const refused = {
      account_id: 'default',
      email_id: id,
      thread_id: a.threadId,
      customer_id: a.customerId,
      other_thread_id: b.threadId,
      other_customer_id: b.customerId,
      rule: 'references',
      message_id: b.messageId,
    };
    expect(await refusedOf(id)).toEqual([expect.objectContaining(refused)]);
    const placement = await placementOf(id);
    expect(placement).toMatchObject({ rule: 'in_reply_to', refused: [refused] });
    expect(placement.explanation).toContain(`It also names ${b.messageId} of thread ${b.threadId}`);

    const merged = await service.request(`/api/thread/${a.threadId}/merge`, {
      json: { thread_id: b.threadId },
    });
    expect(merged.status).toBe(200);
    expect(await threadOf(b.id)).toBe(a.threadId);
    expect(await refusedOf(id)).toEqual([]);
    expect((await placementOf(id)).refused).toEqual([]);
  });

  it('joins the thread of the last reference that is known, where it answers nothing', async () => {
    const [a, b] = [await send(), await send()];
    const raw = mail({ references: [a.messageId, b.messageId, newId()] });
    expect((await receive(service, raw)).threadId).toBe(b.threadId);
    expect(await threadOf(a.id)).toBe(a.threadId);
  });

  it('keeps sixty of them apart', { tags: ['long'] }, async () => {
    const sends = await Promise.all(Array.from({ length: 60 }, () => send()));
    const { id, threadId } = await receive(
      service,
      mail({ references: sends.map(({ messageId }) => messageId) }),
    );
    expect(threadId).toBe(sends.at(-1)!.threadId);
    expect(new Set(await Promise.all(sends.map((one) => threadOf(one.id)))).size).toBe(60);
    expect(await refusedOf(id)).toHaveLength(59);
  });

  it('joins those of one customer', async () => {
    const a = await send();
    const b = await send({}, a.customerId);
    const { id, threadId } = await receive(service, mail({ references: [a.messageId, b.messageId] }));
    expect(await threadOf(a.id)).toBe(threadId);
    expect(await threadOf(b.id)).toBe(threadId);
    expect(await refusedOf(id)).toEqual([]);
  });

  it('takes nothing away from what other emails answer, whatever Date it gives itself', async () => {
    const [a, b] = [await send(), await send()];
    const [unseen, answer] = [newId(), newId()];
    const { id } = await receive(
      service,
      mail({ messageId: answer, inReplyTo: unseen, references: [a.messageId, unseen] }),
    );
    const early = 'Thu, 01 Jan 1998 12:00:00 +0000';
    const forged = mail({ inReplyTo: unseen, references: [b.messageId, answer], date: early });
    await receive(service, forged);
    expect(await threadOf(id)).toBe(a.threadId);
    expect(await threadOf(b.id)).toBe(b.threadId);
  });
});

it('the list refuses an unknown account and an unknown filter', async () => {
  for (const [query, code] of [
    ['account_id=elsewhere', 'unknown_account'],
    ['customer=1', 'unknown_parameter'],
  ]) {
    const response = await service.request(`/api/refused-merges?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code });
  }
});

describe('a send', () => {
  it('for another customer in a thread stays there, and so does later mail', async () => {
    const a = await send();
    const first = newId();
    await receive(service, mail({ messageId: first, inReplyTo: a.messageId }));
    const b = await send({ in_reply_to: first });
    const c = await send({ thread_id: a.threadId });
    expect([b.threadId, c.threadId]).toEqual([a.threadId, a.threadId]);
    const { id, threadId } = await receive(
      service,
      mail({ inReplyTo: b.messageId, references: [a.messageId, c.messageId] }),
    );
    expect(threadId).toBe(a.threadId);
    expect(await refusedOf(id)).toEqual([]);
  });

  it('holds the first email of its thread when that is merged and something is split off', async () => {
    const [v1, v2, h1] = [newId(), newId(), newId()];
    const v = await receive(service, mail({ messageId: v1 }));
    const second = await receive(service, mail({ messageId: v2, inReplyTo: v1 }));
    const h = await receive(service, mail({ messageId: h1 }));
    const put = await send({ thread_id: h.threadId, in_reply_to: v1, customer_id: null });
    await receive(service, mail({ inReplyTo: put.messageId, references: [v1, put.messageId] }));
    expect(await threadOf(h.id)).toBe(v.threadId);
    await service.request(`/api/thread/${v.threadId}/split`, { json: { email_ids: [second.id] } });
    await receive(service, mail({ references: [v1, v2] }));
    expect(await threadOf(h.id)).toBe(v.threadId);
  });

  it('that an operator moved does not go after what it answers', async () => {
    const [v1, h1, other] = [newId(), newId(), newId()];
    const v = await receive(service, mail({ messageId: v1 }));
    const h = await receive(service, mail({ messageId: h1 }));
    const target = await receive(service, mail({ messageId: other }));
    const put = await send({ thread_id: h.threadId, in_reply_to: v1, customer_id: null });
    await service.request(`/api/thread/${target.threadId}/move`, { json: { email_ids: [put.id] } });
    await receive(service, mail({ references: [h1, other] }));
    expect(await threadOf(put.id)).toBe(await threadOf(target.id));
    expect(await threadOf(v.id)).not.toBe(await threadOf(put.id));
  });
});

describe('a stranger', () => {
  it('in a thread takes neither its customer nor its company', async () => {
    const a = await send({ company_id: randomUUID() });
    const { id } = await receive(
      service,
      mail({ inReplyTo: a.messageId, from: `${randomUUID()}@evil.test` }),
    );
    expect(await read(`/api/emails/${id}`)).toMatchObject({
      thread_id: a.threadId,
      new_participant: true,
      customer_id: null,
      company_id: null,
    });
  });

  it('stays one, however often it writes and whomever it copies in, until it is written to', async () => {
    const a = await send();
    const [stranger, copied] = [`${randomUUID()}@evil.test`, `${randomUUID()}@evil.test`];
    const from = async (address: string, fields: object = {}) => {
      const { id } = await receive(service, mail({ inReplyTo: a.messageId, from: address, ...fields }));
      return await read(`/api/emails/${id}`);
    };
    const unknown = { thread_id: a.threadId, new_participant: true, customer_id: null };
    expect(await from(stranger, { headers: [`Cc: ${copied}`] })).toMatchObject(unknown);
    expect(await from(stranger)).toMatchObject(unknown);
    expect(await from(copied)).toMatchObject(unknown);
    await send({ thread_id: a.threadId, to: stranger, customer_id: null });
    expect(await from(stranger)).toMatchObject({
      thread_id: a.threadId,
      new_participant: false,
      customer_id: a.customerId,
    });
  });

  it('has the customer that rules give its address, also when they change later', async () => {
    const a = await send();
    const stranger = `${randomUUID()}@evil.test`;
    const { id } = await receive(service, mail({ inReplyTo: a.messageId, from: stranger }));
    const register = async (addresses: readonly string[]) => {
      const path = `/api/customer/${owner}/addresses`;
      const response = await service.request(path, { method: 'PUT', json: { addresses, domains: [] } });
      expect(response.status).toBe(200);
      return await read(`/api/emails/${id}`);
    };
    const owner = randomUUID();
    const inThread = { thread_id: a.threadId, new_participant: true };
    expect(await register([stranger])).toMatchObject({ ...inThread, customer_id: owner });
    expect(await register([])).toMatchObject({ ...inThread, customer_id: null });
  });

  it('whose Message-ID was only named gets no customer for that', async () => {
    const to = `${randomUUID()}@people.test`;
    const a = await send({ cc: to });
    const named = newId();
    await receive(service, mail({ references: [a.messageId, named], from: `${randomUUID()}@evil.test` }));
    // From an address that took part in the thread, and that no rule covers.
    const { id } = await receive(service, mail({ messageId: named, from: to }));
    expect(await read(`/api/emails/${id}`)).toMatchObject({ thread_id: a.threadId, customer_id: null });
  });
});

describe('links', () => {
  it('are no addresses, and of In-Reply-To the first one', async () => {
    const address = 'Message from <sales@example.com>';
    const [one, two] = [
      await receive(service, mail({ inReplyTo: address })),
      await receive(service, mail({ inReplyTo: address })),
    ];
    expect(one.threadId).not.toBe(two.threadId);
    const both = `${one.messageId} ${two.messageId}`;
    expect((await receive(service, mail({ inReplyTo: both }))).threadId).toBe(one.threadId);
    expect(await threadOf(two.id)).toBe(two.threadId);
  });

  it('by Message-IDs without @ are like any other, and answers carry them', async () => {
    const ticket = '<ticket-4711>';
    const one = await receive(service, mail({ messageId: ticket, subject: 'Ticket', body: 'a' }));
    expect(one.messageId).toBe(ticket);
    expect((await receive(service, mail({ inReplyTo: ticket }))).threadId).toBe(one.threadId);
    const answer = await send({ in_reply_to: ticket });
    expect(answer.threadId).toBe(one.threadId);
    expect(await read(`/api/emails/${answer.id}`)).toMatchObject({ in_reply_to: [ticket] });
  });

  it('compare Message-IDs without needless quotes, and answers carry the form that came', async () => {
    const local = `q.${randomUUID()}`;
    const one = await receive(service, mail({ messageId: `<"${local}"@a.test>` }));
    expect((await receive(service, mail({ inReplyTo: `<${local}@a.test>` }))).threadId).toBe(one.threadId);
    const answer = await send({ in_reply_to: `<${local}@a.test>`, customer_id: null });
    expect(answer.threadId).toBe(one.threadId);
    expect(await read(`/api/emails/${answer.id}`)).toMatchObject({
      in_reply_to: [`<"${local}"@a.test>`],
      references: [`<"${local}"@a.test>`],
    });
  });

  it('by the Message-ID of a second field find the email', async () => {
    const second = newId();
    const one = await receive(service, mail({ headers: [`Message-ID: ${second}`] }));
    expect((await receive(service, mail({ inReplyTo: second }))).threadId).toBe(one.threadId);
  });

  it('by what looks like a Message-ID made up here join nothing', async () => {
    const forged = '<0123@missing-message-id.invalid>';
    const one = await receive(service, mail({ messageId: forged, body: 'a' }));
    const two = await receive(service, mail({ inReplyTo: forged, body: 'b' }));
    expect(one.messageId).not.toBe(forged);
    expect(two.threadId).not.toBe(one.threadId);
  });
});

it('an explanation is true after a split and after a merge by hand', async () => {
  const [v1, v2] = [newId(), newId()];
  const v = await receive(service, mail({ messageId: v1 }));
  const second = await receive(service, mail({ messageId: v2, inReplyTo: v1 }));
  const third = await receive(service, mail({ inReplyTo: v2 }));
  const split = await service.request(`/api/thread/${v.threadId}/split`, {
    json: { email_ids: [second.id] },
  });
  const { thread_id: newThread } = (await split.json()) as { thread_id: string };
  expect((await placementOf(third.id)).explanation).toContain(
    `belongs to thread ${newThread} by now; an operator took the two apart`,
  );
  const other = await receive(service, mail());
  await service.request(`/api/thread/${v.threadId}/merge`, { json: { thread_id: other.threadId } });
  expect((await placementOf(other.id)).explanation).toBe(
    'Nothing it names was known when it came; an operator put it together with the first email of this thread.',
  );
});
