import { describe, expect, it } from 'vitest';
import { groupByLinks } from './link-graph.ts';
import type { LinkedEmail, LinkGraph } from './linked-email.ts';

/** An email that bears its name as Message-ID. */
const email = (
  id: string,
  links: readonly string[] = [],
  fields: Partial<LinkedEmail> = {},
): LinkedEmail => ({
  id,
  messageIds: [id],
  anchorId: null,
  partyId: null,
  links,
  date: new Date(0),
  label: null,
  ...fields,
});

/** A graph with the Message-IDs that have labels, and all others of the emails. */
function graph(
  emails: readonly LinkedEmail[],
  labels: Readonly<Record<string, string>> = {},
  separations: LinkGraph['separations'] = [],
): LinkGraph {
  const ids = new Set(emails.flatMap(({ messageIds, links }) => [...messageIds, ...links]));
  for (const id of Object.keys(labels)) ids.add(id);
  return { emails, messageIds: new Map([...ids].map((id) => [id, labels[id] ?? null])), separations };
}

/** The emails; those that belong together are in one string. */
function grouped(input: LinkGraph): readonly string[] {
  const groups = new Map<number, string[]>();
  for (const [index, { id }] of input.emails.entries()) {
    const group = groupByLinks(input).emails[index]!;
    groups.set(group, [...(groups.get(group) ?? []), id]);
  }
  return [...groups.values()].map((ids) => ids.sort().join(' ')).sort();
}

const APART = [['L', 'R']] as const;

describe('groups', () => {
  it('are what the links connect, also by Message-IDs that no email has', () => {
    expect(
      grouped(graph([email('a'), email('b', ['a']), email('c', ['x']), email('d', ['x']), email('e')])),
    ).toEqual(['a b', 'c d', 'e']);
  });

  it('hold emails with one Message-ID together, and with a second one that the relay gave', () => {
    const emails = [
      email('a', [], { messageIds: ['m', 'relay'] }),
      email('b', [], { messageIds: ['m'] }),
      email('c', ['relay']),
    ];
    expect(grouped(graph(emails))).toEqual(['a b c']);
  });

  it('hold an email beside the one it was put to by hand', () => {
    expect(grouped(graph([email('a'), email('b', [], { anchorId: 'a' })]))).toEqual(['a b']);
  });

  it('hold equal labels together without any link', () => {
    expect(grouped(graph([email('a'), email('b')], { a: 'L', b: 'L' }))).toEqual(['a b']);
  });

  it('of separated labels never come together, by whatever links', () => {
    const emails = [email('a'), email('b', ['a']), email('c', ['a', 'b']), email('d', ['b', 'a'])];
    expect(grouped(graph(emails, { a: 'L', b: 'R' }, APART))).toEqual(['a c', 'b d']);
  });

  it('place a reply by what it answers, though it names nearer ones of the other side', () => {
    // References that a mail program cut in the middle name the root, which is on the other side, and the parent.
    const emails = [email('root'), email('r', ['root']), email('r2', ['r']), email('reply', ['r2', 'root'])];
    expect(grouped(graph(emails, { root: 'L', r: 'R' }, APART))).toEqual(['r r2 reply', 'root']);
  });

  it('place a late email by its own links, not by those of the emails that were there', () => {
    // `l` existed at the decision, and no email named `late` then; now it turns out that `l` names it.
    const emails = [email('l', ['late']), email('late', ['r']), email('r')];
    expect(grouped(graph(emails, { l: 'L', r: 'R' }, APART))).toEqual(['l', 'late r']);
  });

  it('come together when no decision keeps their labels apart', () => {
    const emails = [email('a'), email('b'), email('c', ['a', 'b'])];
    expect(grouped(graph(emails, { a: 'L', b: 'S' }, APART))).toEqual(['a b c']);
  });

  it('that came together stay apart from what either was separated from', () => {
    const emails = [email('a'), email('b'), email('r'), email('c', ['a', 'b']), email('d', ['b', 'r'])];
    expect(grouped(graph(emails, { a: 'L', r: 'R' }, APART))).toEqual(['a b c d', 'r']);
  });

  it('take an email away from its Message-ID when a decision did', () => {
    const emails = [
      email('one', [], { messageIds: ['m'] }),
      email('two', [], { messageIds: ['m'], label: 'R' }),
      email('reply', ['m']),
    ];
    expect(grouped(graph(emails, { m: 'L' }, APART))).toEqual(['one reply', 'two']);
  });
});
