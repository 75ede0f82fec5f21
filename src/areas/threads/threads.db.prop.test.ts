/**
 * Laws of threads, for any mix of received mail, sends and decisions: threads made step by step equal those that all of it makes together,
 * and those of a model without a database (its own laws: core/thread/live-threads.prop.test.ts); `rethread` finds nothing; no received
 * email joins threads that sends named for different customers; and the order of arrival does not matter. `TEST_RUNS` and `TEST_SEED`:
 * test/helpers/runs.ts.
 */
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { dryRethread } from '../../../test/helpers/dry-rethread.ts';
import { numbered } from '../../../test/helpers/groups.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { addressOf, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { compareWithLaw } from '../../../test/helpers/thread-law.ts';
import { createThreadModel, type ModelStep } from '../../../test/helpers/thread-model.ts';
import type { InboundRecord } from '../receive/inbound-ports.ts';
import type { OutboundRecord } from '../send/outbound-ports.ts';
import { rethread } from './rethread.ts';
import { ServiceError } from '../../core/errors.ts';
import { identityKey } from '../../core/message/identity.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { meetingKeyOfSend, meetingKeysOf } from '../../core/thread/meeting-points.ts';
import { linksOf } from '../../core/thread/place-inbound.ts';
import { placeOutbound } from '../../core/thread/place-outbound.ts';
import { createMessageStore, openMailStores } from '../../../test/helpers/mail-stores.ts';
import { createDeletionStore } from '../erase/deletion-store.ts';
import { createInboundStore } from '../receive/record-inbound.ts';
import { meetingKeysOfSend } from '../send/insert-emails.ts';
import { saveRelayMessageId } from '../send/relay-message-ids.ts';
import { createRethreadStore } from './rethread-store.ts';
import { createThreadDecisions } from './decide-in-transaction.ts';
import { runs } from '../../../test/helpers/runs.ts';

const RUNS = runs(25);
const TIMEOUT_MS = 60_000 + RUNS * 4000;

const CUSTOMERS = ['A', 'B', 'C'].map(
  (_, index) => `${index + 1}`.repeat(8) + '-1111-4111-8111-111111111111',
);
/** Message-IDs of received mail and of sends; few, so that they collide. */
const NAMES = 14;
const FIRST_SENT = 9;

let end: () => Promise<void>;
let pool: pg.Pool;

beforeAll(async () => {
  ({ pool, end } = await openMailStores(8));
});
afterAll(() => end());
beforeEach(truncate);

async function truncate(): Promise<void> {
  await pool.query(
    `truncate email_threads, thread_message_ids, thread_summaries, customer_addresses, customer_relinks,
    message_id_labels, label_separations, thread_decisions cascade`,
  );
}

/** Every other one is telling: who names it has seen an email. */
const nameOf = (index: number): MessageId =>
  `m${index}${index % 2 === 0 ? '' : '.1234567'}@example.test` as MessageId;

/** Those of mail with one of three people. */
const KEYS = ['k0', 'k1', 'k2'].map(
  (person) =>
    meetingKeysOf(
      { suggested: null, from: [addressOf(person)], recipients: [], messageId: nameOf(0) },
      addressOf('sales', 'example.com'),
    )[0]!,
);

const received = fc.record({
  own: fc.nat(FIRST_SENT - 1),
  inReplyTo: fc.option(fc.nat(NAMES - 1), { nil: null }),
  references: fc.array(fc.nat(NAMES - 1), { maxLength: 3 }),
  /** With whom it is exchanged; few, so that they meet. */
  keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 2 }),
  /** Equal days are common. */
  day: fc.integer({ min: 1, max: 3 }),
});
type Received = (typeof received extends fc.Arbitrary<infer T> ? T : never) & {
  /** In an account that joins by subject. */
  readonly subject?: { readonly key: string; readonly isReply: boolean };
};

const customer = fc.option(fc.nat(CUSTOMERS.length - 1), { nil: null, freq: 4 });

const together = fc.record({
  kind: fc.constant('together' as const),
  mails: fc.array(received, { minLength: 2, maxLength: 5 }),
});
const decision = fc.record({
  kind: fc.constantFrom('split', 'move', 'merge'),
  at: fc.nat(40),
  emails: fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 3 }),
});
const oneByOne = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('receive' as const), mail: received }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      own: fc.integer({ min: FIRST_SENT, max: NAMES - 1 }),
      /** The thread of the nth email; null: the send names none. */
      thread: fc.option(fc.nat(40), { nil: null }),
      inReplyTo: fc.option(fc.nat(NAMES - 1), { nil: null }),
      customer,
    }),
  },
  { weight: 2, arbitrary: decision },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('relay' as const), email: fc.nat(40), name: fc.nat(NAMES - 1) }),
  },
);
const step = fc.oneof({ weight: 13, arbitrary: oneByOne }, { weight: 2, arbitrary: together });
/** Steps that the model lacks: replies that join by their subject, and emails that are deleted. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: oneByOne },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      mail: fc
        .record({
          mail: received,
          key: fc.constantFrom('a', 'b'),
          isAlone: fc.boolean(),
          isReply: fc.boolean(),
        })
        .map(({ mail, key, isAlone, isReply }) => ({
          ...mail,
          ...(isAlone ? { inReplyTo: null, references: [] } : {}),
          subject: { key, isReply: isAlone || isReply },
        })),
    }),
  },
  { weight: 2, arbitrary: decision },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), email: fc.nat(40) }) },
);
/** All of them at the same moment, with copies of sends that come back. */
const atOnce = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: oneByOne },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('send' as const),
        own: fc.integer({ min: FIRST_SENT, max: NAMES - 1 }),
        thread: fc.option(fc.nat(40), { nil: null }),
        inReplyTo: fc.option(fc.nat(NAMES - 1), { nil: null }),
        customer,
        comesBack: fc.constantFrom('before' as const, 'beside' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rethread' as const) }) },
  ),
  { minLength: 1, maxLength: 6 },
);
type StepOfOne = typeof oneByOne extends fc.Arbitrary<infer T> ? T : never;
type AnyStep =
  | (typeof anyStep extends fc.Arbitrary<infer T> ? T : never)
  | (typeof atOnce extends fc.Arbitrary<(infer T)[]> ? T : never);
type Send = Extract<StepOfOne, { kind: 'send' }> & { readonly comesBack?: 'before' | 'beside' };
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function toRecord(accountId: string, mail: Received): InboundRecord {
  const { own, inReplyTo, references, keys, day, subject } = mail;
  const messageId = nameOf(own);
  const date = new Date(`2026-03-0${day}T12:00:00Z`);
  const names = {
    inReplyTo: inReplyTo === null ? [] : [nameOf(inReplyTo)],
    references: [...new Set(references)].map(nameOf),
  };
  const base = inboundRecord({ accountId, date, ...names });
  // The same Message-ID with another date or other links is another email.
  const key = JSON.stringify([own, inReplyTo, references, keys, day]);
  const written = subject === undefined ? key : `${subject.isReply ? 'Re: ' : ''}${subject.key}`;
  return {
    ...base,
    bySubject: subject === undefined ? null : { ...subject, windowDays: 30 },
    identity: { ...base.identity, messageId, date, subject: written },
    identityKey: createHash('sha256').update(`${key} ${written}`).digest('hex'),
    subject: written,
    meetingKeys: keys,
    links: [
      ...linksOf({ ...names, bounced: null, bySubject: null }).filter((link) => link.messageId !== messageId),
      { rule: 'message_id', messageId },
    ],
  };
}

/** The send as it comes back from its recipients, who are two. */
function toCopy(send: OutboundRecord): InboundRecord {
  const { accountId, messageId, from, to, date, subject, inReplyTo, references } = send;
  const identity = { messageId, date, from: [from], subject, undated: null };
  const links = linksOf({ inReplyTo, references, bounced: null, bySubject: null });
  return inboundRecord({
    accountId,
    isSentCopy: true,
    from,
    to,
    date,
    subject,
    inReplyTo,
    references,
    identity,
    identityKey: identityKey(identity),
    meetingKeys: [meetingKeyOfSend(send), ...KEYS.slice(0, 1)],
    links: [...links, { rule: 'message_id', messageId }],
  });
}

/** `isAtOnce`: decisions may move a send before its thread is looked at. */
function createWorld(accountId: string, { isAtOnce = false } = {}) {
  /** Two processes. */
  const inbound = [createInboundStore(pool), createInboundStore(pool)] as const;
  const messages = createMessageStore(pool);
  const decisions = createThreadDecisions(pool);
  const deletions = createDeletionStore(pool);
  const emails: string[] = [];
  const sent = new Set<number>();
  const threadOf = async (index: number): Promise<string | null> => {
    const id = emails[index % emails.length];
    if (id === undefined) return null;
    const { rows } = await pool.query<{ thread_id: string }>('select thread_id from emails where id = $1', [
      id,
    ]);
    return rows[0]?.thread_id ?? null;
  };

  async function receive(mail: Received, turn = 0): Promise<ModelStep | null> {
    const record = toRecord(accountId, mail);
    const result = await inbound[turn % 2 === 0 ? 0 : 1].recordInbound(record);
    if (result.kind !== 'recorded') return null;
    emails.push(result.id);
    const { messageId } = record.identity;
    const links = record.links.map((link) => link.messageId).filter((name) => name !== messageId);
    return { kind: 'receive', own: [messageId], links, keys: record.meetingKeys, date: record.date };
  }

  async function send({
    own,
    thread,
    inReplyTo,
    customer: whose,
    comesBack,
  }: Send): Promise<ModelStep | null> {
    if (sent.has(own)) return null;
    sent.add(own);
    const { rows: named } = await pool.query(
      'select from thread_message_ids where account_id = $1 and message_id in ($2, deleted_message_id($2))',
      [accountId, nameOf(own)],
    );
    const to = [addressOf(`k${own % KEYS.length}`)];
    const query = {
      accountId,
      defaultAccountId: accountId,
      threadId: thread === null ? null : await threadOf(thread),
      inReplyTo: inReplyTo === null ? null : nameOf(inReplyTo),
      meetingKey: meetingKeyOfSend(outboundRecord({ to })),
    };
    const placement = placeOutbound(query, await messages.readPlacementFacts(query), uuidv7());
    const parent = placement.parent;
    const record = outboundRecord({
      accountId,
      threadId: placement.threadId,
      placement: { rule: placement.rule, matchedMessageId: placement.matchedMessageId },
      messageId: nameOf(own),
      inReplyTo: parent === null ? [] : [parent.messageId],
      references: parent === null ? [] : [...parent.references, parent.messageId],
      customerId: whose === null ? null : CUSTOMERS[whose]!,
      to,
      subject: `send ${own}`,
    });
    const copy = toCopy(record);
    if (comesBack === 'before') await inbound[0].recordInbound(copy);
    const back = comesBack === 'beside' ? inbound[1].recordInbound(copy) : null;
    await messages.recordOutbound(record);
    await back;
    emails.push(record.id);
    // In the thread that its caller was given.
    const { rows } = await pool.query<{ same: boolean }>(
      `select e.thread_id = coalesce((select thread_id from thread_aliases where id = $2), $2::uuid) as same
      from emails e where e.id = $1`,
      [record.id, placement.threadId],
    );
    // A decision about a thread that named the email before it was recorded outweighs that, even if the email that named it was deleted.
    if (named.length === 0 && !isAtOnce) expect(rows[0]?.same).toBe(true);
    return {
      kind: 'send',
      own: record.messageId,
      links: linksOf({ ...record, bounced: null, bySubject: null }).map(({ messageId }) => messageId),
      keys: meetingKeysOfSend(record),
      thread: thread === null || query.threadId === null ? null : thread % (emails.length - 1),
      answered: placement.matchedMessageId,
      customer: record.customerId,
      date: record.date,
    };
  }

  async function decide(one: Extract<Step, { kind: string; at: number }>): Promise<ModelStep | null> {
    const threadId = await threadOf(one.at);
    if (threadId === null) return null;
    const ids = { decisionId: uuidv7(), newThreadId: uuidv7() };
    const named = [];
    for (const index of one.emails) {
      if (one.kind !== 'split' || (await threadOf(index)) === threadId)
        named.push(emails[index % emails.length]!);
    }
    const emailIds = [...new Set(named)].sort();
    try {
      if (one.kind === 'merge') {
        const otherThreadId = (await threadOf(one.emails[0]!))!;
        await decisions.merge({ threadId, otherThreadId, reason: null }, ids);
      } else if (emailIds.length > 0) {
        await (one.kind === 'split' ? decisions.split : decisions.move)(
          { threadId, emailIds, reason: null },
          ids,
        );
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    const at = (index: number) => index % emails.length;
    return { kind: one.kind, at: at(one.at), emails: [...new Set(one.emails.map(at))] };
  }

  async function relay(index: number, name: number): Promise<ModelStep | null> {
    const emailId = emails[index % emails.length];
    const { rows } = await pool.query(
      `select from emails where id = $1 and direction = 'outbound' and relay_message_id is null
        and not exists (select from emails where account_id = $2 and (message_id = $3 or relay_message_id = $3))`,
      [emailId, accountId, nameOf(name)],
    );
    if (emailId === undefined || rows.length === 0) return null;
    await saveRelayMessageId(pool, { emailId, messageId: nameOf(name) });
    return { kind: 'relay', email: index % emails.length, name: nameOf(name) };
  }

  return {
    emails,
    /** Returns the executed step, for the model; null for none, and when the order is not known. */
    async take(one: Step | AnyStep): Promise<ModelStep | null> {
      if (one.kind === 'delete') {
        await deletions.deleteEmail(emails[one.email % Math.max(emails.length, 1)] ?? uuidv7());
        return null;
      }
      if (one.kind === 'receive') return receive(one.mail);
      if (one.kind === 'send') return send(one);
      if (one.kind === 'relay') return relay(one.email, one.name);
      if (one.kind === 'rethread') {
        await rethread(createRethreadStore(pool), {
          dryRun: false,
          signal: new AbortController().signal,
          onChanges: () => undefined,
          onProgress: () => undefined,
        });
        return null;
      }
      if (one.kind !== 'together') return decide(one);
      await Promise.all(one.mails.map(receive));
      return null;
    },
  };
}

async function requireLaw(accountId: string): Promise<void> {
  const { stored, expected, mixed } = await compareWithLaw(pool, accountId);
  expect(stored).toEqual(expected);
  expect(mixed).toEqual([]);
  expect(await dryRethread(pool)).toEqual([]);
}

it(
  'threads made step by step are those that all of the mail makes together',
  async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      await truncate();
      const accountId = randomUUID();
      const world = createWorld(accountId);
      for (const one of steps) {
        await world.take(one);
        const { stored, expected } = await compareWithLaw(pool, accountId);
        expect(stored).toEqual(expected);
      }
      await requireLaw(accountId);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  },
  TIMEOUT_MS,
);

/**
 * A send stays where its caller put it, though another customer's send named its Message-ID elsewhere, when the first email there is split
 * off.
 */
const HELD_BY_NO_MESSAGE_ID: StepOfOne[] = [
  { kind: 'receive', mail: { own: 0, inReplyTo: null, references: [], keys: KEYS.slice(0, 1), day: 1 } },
  { kind: 'send', own: 10, thread: 0, inReplyTo: 11, customer: 0 },
  { kind: 'split', at: 0, emails: [1] },
  { kind: 'send', own: 11, thread: 0, inReplyTo: 12, customer: 1 },
  { kind: 'split', at: 0, emails: [0] },
];

it(
  'each step makes what it makes in the model',
  async () => {
    const property = fc.asyncProperty(fc.array(oneByOne, { minLength: 1, maxLength: 14 }), async (steps) => {
      await truncate();
      const accountId = randomUUID();
      const world = createWorld(accountId);
      const model = createThreadModel();
      for (const one of steps) {
        const done = await world.take(one);
        if (done === null) continue;
        model.take(done);
        expect(await readAsModel(accountId)).toEqual(model.stored());
      }
      expect(model.stored()).toEqual(model.expected());
      expect(await dryRethread(pool)).toEqual([]);
    });
    await fc.assert(property, {
      numRuns: RUNS,
      endOnFailure: true,
      examples: [[HELD_BY_NO_MESSAGE_ID]],
    });
  },
  TIMEOUT_MS,
);

/** Our email has a Message-ID that a deleted one named: it once took no notice of those that the deleted one was with. */
const NAMED_BEFORE_ITS_SEND: AnyStep[] = [
  { kind: 'receive', mail: { own: 1, inReplyTo: null, references: [], keys: KEYS.slice(0, 1), day: 1 } },
  { kind: 'receive', mail: { own: 3, inReplyTo: 10, references: [1], keys: KEYS.slice(0, 1), day: 1 } },
  { kind: 'delete', email: 1 },
  { kind: 'send', own: 10, thread: null, inReplyTo: null, customer: null },
];

it(
  'whatever came before, the next email is recorded, and the threads are what the law says',
  async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 12, maxLength: 24 }), async (steps) => {
      await truncate();
      const accountId = randomUUID();
      const world = createWorld(accountId);
      for (const one of steps) await world.take(one);
      await requireLaw(accountId);
    });
    await fc.assert(property, {
      numRuns: RUNS,
      endOnFailure: true,
      examples: [[NAMED_BEFORE_ITS_SEND]],
    });
  },
  TIMEOUT_MS,
);

it(
  'whatever happens at the same moment, the threads are what the law says',
  async () => {
    const history = fc.array(atOnce, { minLength: 2, maxLength: 6 });
    const property = fc.asyncProperty(history, async (moments) => {
      await truncate();
      const accountId = randomUUID();
      const world = createWorld(accountId, { isAtOnce: true });
      for (const steps of moments) await Promise.all(steps.map((one) => world.take(one)));
      await requireLaw(accountId);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  },
  TIMEOUT_MS,
);

/** The stored state, with emails named as in the model. */
async function readAsModel(
  accountId: string,
): Promise<ReturnType<ReturnType<typeof createThreadModel>['stored']>> {
  const { rows } = await pool.query<{ thread: string; refused: boolean }>(
    `with named as (
      select id, thread_id, 'e' || lpad((row_number() over (order by id) - 1)::text, 4, '0') as name
      from emails where account_id = $1
    )
    select string_agg(name, ' | ' order by name collate "C") as thread, false as refused from (
      select thread_id, name from named
      union all select thread_id, message_id from thread_message_ids where account_id = $1 and thread_id is not null
    ) placed group by thread_id
    union all select n.name || ' ' || r.message_id, true from refused_links r join named n on n.id = r.email_id`,
    [accountId],
  );
  const [threads, refused] = [false, true].map((wanted) =>
    rows
      .filter((row) => row.refused === wanted)
      .map(({ thread }) => thread)
      .sort(),
  );
  return { threads: threads ?? [], refused: refused ?? [] };
}

it(
  'the order of arrival does not count, nor what comes at the same moment',
  async () => {
    const histories = fc.record({
      mails: fc.array(received, { minLength: 1, maxLength: 9 }),
      // Sends that begin a conversation; some are recorded after emails that answer them.
      sends: fc.uniqueArray(
        fc.record({ own: fc.integer({ min: FIRST_SENT, max: NAMES - 1 }), customer, at: fc.nat(9) }),
        { maxLength: 4, selector: ({ own }) => own },
      ),
      shuffle: fc.infiniteStream(fc.nat(1000)),
      atOnce: fc.boolean(),
    });
    const property = fc.asyncProperty(histories, async ({ mails, sends, shuffle, atOnce }) => {
      await truncate();
      const found: unknown[] = [];
      const keys = mails.map(() => shuffle.next().value as number);
      for (const copy of [0, 1]) {
        const accountId = randomUUID();
        const world = createWorld(accountId);
        const order = [...mails.keys()];
        if (copy === 1) order.sort((a, b) => keys[a]! - keys[b]! || a - b);
        const steps: Step[] = [];
        for (const [at, index] of order.entries()) {
          for (const send of sends) {
            const sendAt = copy === 0 ? 0 : send.at % mails.length;
            if (sendAt === at) {
              steps.push({
                kind: 'send',
                own: send.own,
                thread: null,
                inReplyTo: null,
                customer: send.customer,
              });
            }
          }
          steps.push({ kind: 'receive', mail: mails[index]! });
        }
        if (copy === 1 && atOnce) await Promise.all(steps.map((one) => world.take(one)));
        else for (const one of steps) await world.take(one);
        await requireLaw(accountId);
        const { rows } = await pool.query<{ name: string; thread_id: string }>(
          `select e.message_id || ' ' || e.subject as name, e.thread_id from emails e where account_id = $1
        union all select m.message_id, m.thread_id from thread_message_ids m where m.account_id = $1 and m.thread_id is not null
          -- Points of known Message-IDs are left from when they were not.
          and not exists (
            select from thread_message_ids k
            where k.account_id = $1 and k.message_id = m.waits_for and k.thread_id is not null
          )
        order by 1`,
          [accountId],
        );
        const refused = await pool.query<{ name: string }>(
          `select e.message_id || ' ' || e.subject || ' ' || r.message_id as name
        from refused_links r join emails e on e.id = r.email_id where e.account_id = $1 order by 1`,
          [accountId],
        );
        found.push({
          names: rows.map(({ name }) => name),
          threads: numbered(rows.map(({ thread_id }) => thread_id)),
          refused: refused.rows,
        });
      }
      expect(found[1]).toEqual(found[0]);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  },
  TIMEOUT_MS,
);
