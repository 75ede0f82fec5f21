/**
 * Our threads against those of Dovecot (THREAD=REFS) on the same messages. Where they differ, ours are larger, for
 * reasons that docs/quirks.md names. MAIL_ARCHIVE may name a folder with real messages, one in a file.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOf } from '../../src/core/message/identity.ts';
import { parseMessage } from '../../src/core/mime/parse.ts';
import { groupByLinks } from '../../src/core/thread/link-graph.ts';
import { inboundLinks } from '../../src/core/thread/place-inbound.ts';
import { openDovecot, type DovecotSession } from '../helpers/dovecot-threads.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { mail } from '../helpers/inbound-mail.ts';

/** Our threads, by the rule that the database is checked against elsewhere. */
function ourThreads(messages: readonly (string | Buffer)[]): readonly number[] {
  const emails = messages.map((raw, index) => {
    const message = parseMessage(Buffer.from(raw));
    const { messageId } = identityOf(message);
    const links = inboundLinks(messageId, message, null).filter(({ rule }) => rule !== 'message_id');
    return {
      id: String(index),
      messageIds: [messageId],
      anchorId: null,
      links: links.map((link) => link.messageId),
      date: message.date ?? new Date(0),
      label: null,
    };
  });
  const ids = new Set(emails.flatMap(({ messageIds, links }) => [...messageIds, ...links]));
  return groupByLinks({
    emails,
    messageIds: new Map([...ids].map((id) => [id, null])),
    separations: [],
  }).emails;
}

function numbered<T>(groups: readonly T[]): readonly number[] {
  const first = new Map<T, number>();
  for (const group of groups) if (!first.has(group)) first.set(group, first.size);
  return groups.map((group) => first.get(group)!);
}

/** Pairs of neighbours in `fine`'s groups that `coarse` has in different ones. */
function torn(fine: readonly number[], coarse: readonly number[]): readonly (readonly number[])[] {
  const last = new Map<number, number>();
  return fine.flatMap((group, index) => {
    const before = last.get(group);
    last.set(group, index);
    return before !== undefined && coarse[before] !== coarse[index] ? [[before, index]] : [];
  });
}

/** How an email names its ancestors. */
const NAMING = ['full', 'ends', 'parent', 'reply_only'] as const;

interface Generated {
  readonly raw: string;
  readonly conversation: number;
}

/** Conversations as people have them: some mails never came, and programs name ancestors in their own ways. */
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
    mixed(toMessages(fc.sample(conversationOf(namings), 400)));

  it('are the same where every email names all its ancestors', async () => {
    const messages = sample(['full']);
    const raws = messages.map(({ raw }) => raw);
    expect(raws.length).toBeGreaterThan(1000);
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
    const raws = fc.sample(any, 400).flatMap((emails, set) =>
      emails.map(({ own, inReplyTo, references }) => {
        const id = (n: number) => `<any-${set}.${n}@customer.test>`;
        return mail({
          messageId: id(own),
          ...(inReplyTo === null ? {} : { inReplyTo: id(inReplyTo) }),
          ...(references.length === 0 ? {} : { references: references.map(id) }),
        });
      }),
    );
    expect(raws.length).toBeGreaterThan(1000);
    expect(torn(await dovecot.threadsOf(raws), ourThreads(raws))).toEqual([]);
  }, 240_000);

  it.skipIf(process.env.MAIL_ARCHIVE === undefined)(
    'hold theirs for real mail',
    async () => {
      const raws = readArchive(process.env.MAIL_ARCHIVE ?? '');
      const [ours, theirs] = [ourThreads(raws), await dovecot.threadsOf(raws)];
      const joined = torn(ours, theirs);
      process.stdout.write(
        `${raws.length} messages, ${new Set(ours).size} threads here, ${new Set(theirs).size} of Dovecot; ` +
          `joined here only: ${JSON.stringify(joined.map((pair) => pair.map((at) => parseMessage(Buffer.from(raws[at]!)).messageId)))}\n`,
      );
      expect(torn(theirs, ours)).toEqual([]);
    },
    240_000,
  );
});

/** One copy of each: Dovecot gives a second email with a Message-ID a thread of its own. */
function readArchive(folder: string): readonly Buffer[] {
  const seen = new Set<string>();
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .map((file) => readFileSync(file))
    .filter((raw) => {
      const { messageId } = identityOf(parseMessage(raw));
      return !seen.has(messageId) && seen.add(messageId);
    });
}
