/**
 * Our threads against those of Dovecot (THREAD=REFS) for the same messages, made-up and real ones. Where they differ, ours are larger, for
 * the reasons given in docs/quirks.md.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDovecot, type DovecotSession } from '../helpers/dovecot-threads.ts';
import { countShared, numbered, torn } from '../helpers/groups.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { firstOfEach, readMailArchive, skipWithoutMailArchive } from '../helpers/mail-archive.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { ourThreads, rfc5256Threads } from '../helpers/pure-threads.ts';
import { runs } from '../helpers/runs.ts';

const CONVERSATIONS = runs(400);
/** The fewest emails that this many conversations have. */
const MIN_EMAILS = 2.5 * CONVERSATIONS;

/** How an email names its ancestors. */
const NAMING = ['full', 'ends', 'parent', 'reply_only'] as const;

interface Generated {
  readonly raw: string;
  readonly conversation: number;
}

/** Realistic conversations: some mails never came, and programs name ancestors in their own ways. */
const conversationOf = (namings: readonly (typeof NAMING)[number][]) =>
  fc.array(
    fc.record({
      parent: fc.nat(),
      naming: fc.constantFrom(...namings),
      isMissing: fc.nat(9).map((n) => n === 0),
    }),
    { minLength: 1, maxLength: 12 },
  );

let counter = 0;

function toMessages(
  conversations: readonly { parent: number; naming: (typeof NAMING)[number]; isMissing: boolean }[][],
): Generated[] {
  return conversations.flatMap((emails, conversation) => {
    counter += 1;
    const chains: string[][] = [];
    return emails.flatMap(({ parent, naming, isMissing }, index): Generated[] => {
      const ancestors = index === 0 ? [] : chains[parent % index]!;
      const messageId = `<${counter}.${index}@customer.test>`;
      chains.push([...ancestors, messageId]);
      if (isMissing) return [];
      const references = {
        full: ancestors,
        ends: [...ancestors.slice(0, 1), ...ancestors.slice(1).slice(-2)],
        parent: ancestors.slice(-1),
        reply_only: [],
      }[naming];
      const raw = mail({
        messageId,
        subject: `Subject ${conversation % 7}`,
        ...(ancestors.length === 0 ? {} : { inReplyTo: ancestors.at(-1)! }),
        ...(references.length === 0 ? {} : { references }),
      });
      return [{ raw, conversation }];
    });
  });
}

/** A fixed order that mixes all conversations. */
const mixed = <T>(values: readonly T[]): T[] =>
  values
    .map((value, index) => [Math.imul(index + 1, 0x9e3779b1) >>> 0, value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);

const isWithoutArchive = skipWithoutMailArchive();

describe.skipIf(skipWithoutMailServers())('threads beside those of Dovecot', () => {
  let servers: MailServers;
  let dovecot: DovecotSession;

  beforeAll(async () => {
    servers = await startMailServers();
    dovecot = await openDovecot(servers);
  });
  afterAll(async () => {
    await dovecot.close();
    await servers.stop();
  });

  const sample = (namings: readonly (typeof NAMING)[number][]) =>
    mixed(toMessages(fc.sample(conversationOf(namings), CONVERSATIONS)));

  it('are the same where every email names all its ancestors', async () => {
    const messages = sample(['full']);
    const raws = messages.map(({ raw }) => raw);
    expect(raws.length).toBeGreaterThan(MIN_EMAILS);
    expect(numbered(ourThreads(raws))).toEqual(numbered(await dovecot.threadsOf(raws)));
  }, 240_000);

  it('hold theirs, and never more than a conversation, where emails name some ancestors', async () => {
    const messages = sample(NAMING);
    const raws = messages.map(({ raw }) => raw);
    const [ours, theirs] = [ourThreads(raws), await dovecot.threadsOf(raws)];
    expect(torn(theirs, ours)).toEqual([]);
    expect(
      torn(
        ours,
        messages.map(({ conversation }) => conversation),
      ),
    ).toEqual([]);
  }, 240_000);

  it('hold theirs for any links, also circles and Message-IDs that several emails have', async () => {
    const any = fc.array(
      fc.record({
        own: fc.nat(11),
        inReplyTo: fc.option(fc.nat(11), { nil: null }),
        references: fc.array(fc.nat(11), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    const raws = fc.sample(any, CONVERSATIONS).flatMap((emails, set) =>
      emails.map(({ own, inReplyTo, references }) => {
        const id = (n: number) => `<any-${set}.${n}@customer.test>`;
        return mail({
          messageId: id(own),
          ...(inReplyTo === null ? {} : { inReplyTo: id(inReplyTo) }),
          ...(references.length === 0 ? {} : { references: references.map(id) }),
        });
      }),
    );
    expect(raws.length).toBeGreaterThan(MIN_EMAILS);
    expect(torn(await dovecot.threadsOf(raws), ourThreads(raws))).toEqual([]);
  }, 240_000);

  describe.skipIf(isWithoutArchive)('of real mail', () => {
    // Dovecot gives a second email with a Message-ID a thread of its own.
    const raws = isWithoutArchive ? [] : firstOfEach(readMailArchive());

    /** Dovecot's threads are those of RFC 5256; ours contain them, and each further join of ours has a reason. */
    async function compare(part: readonly Buffer[]): Promise<string> {
      const [ours, theirs] = [ourThreads(part), await dovecot.threadsOf(part)];
      const rfc5256 = rfc5256Threads(part);
      expect(numbered(theirs)).toEqual(numbered(rfc5256.groups));
      expect(numbered(ours)).toEqual(numbered(rfc5256.withDropped));
      expect(torn(theirs, ours)).toEqual([]);
      const reasons = [...new Set(rfc5256.dropped.map(({ reason }) => reason))].sort();
      return (
        `${part.length} real messages: ${new Set(ours).size} threads, ${countShared(ours)} of more than one; ` +
        `Dovecot has ${new Set(theirs).size} and drops links for: ${reasons.join(', ')}`
      );
    }

    it('hold theirs, and more only for named reasons', async () => {
      expect(raws.length).toBeGreaterThan(200);
      expect(countShared(ourThreads(raws))).toBeGreaterThan(30);
      process.stdout.write(`${await compare(raws)}\n`);
    });

    it('do so too when some never came, in any order', async () => {
      const parts = fc.shuffledSubarray([...raws], { minLength: Math.ceil(raws.length / 4) });
      await fc.assert(
        fc.asyncProperty(parts, async (part) => void (await compare(part))),
        { numRuns: runs(10), endOnFailure: true },
      );
    });
  });
});
