/**
 * The ties of a graph of links, and the order in which they count where something is kept apart; link-graph.ts explains
 * why. No part of the order depends on when anything was recorded.
 */
import type { LinkedEmail, LinkGraph } from './linked-email.ts';

/** A tie between two nodes of the graph, by number; the first is an email, unless it ties a meeting point to its Message-ID. */
export interface RankedTie {
  readonly a: number;
  readonly b: number;
  /** The Message-ID or meeting point that ties them; null for an anchor, and between these two. */
  readonly messageId: string | null;
  /** Lower ones count first. */
  readonly rank: number;
  /** Distance of its email from the beginning of a conversation, counted along the first link of each email. */
  readonly depth: number;
  readonly date: number;
  readonly key: string;
}

/** The thread that the caller of a send chose counts, wherever others have put its Message-ID. */
const ANCHOR_RANK = -4;
/** An email and its Message-ID are one, whatever it answers; so are a send and the Message-ID from its relay. */
const OWN_RANK = -3;
const OTHER_OWN_RANK = -2;
/** After all links to existing emails: any number of strangers may name a Message-ID that no email has. */
const UNBORNE_RANK = 10_000;
/** After all others: the thread of a labelled email is known without its links. */
const LABELLED_RANK = 1_000_000;
/** Who met there names the Message-ID itself. Only a label is left to be tied: that of what an operator or a deletion kept together. */
const POINT_RANK = 2_000_000;
/** Deeper than any conversation. */
const CIRCLE = Number.MAX_SAFE_INTEGER;

/** @param numbers of the Message-IDs; an email's is its index in the graph */
export function rankTies(graph: LinkGraph, numbers: ReadonlyMap<string, number>): RankedTie[] {
  const { emails, messageIds } = graph;
  const indexes = new Map(emails.map(({ id }, index) => [id, index] as const));
  const borne = new Set(emails.flatMap((email) => email.messageIds));
  const depths = depthsOf(emails, borne);
  const ties: RankedTie[] = [];
  for (const [index, email] of emails.entries()) {
    const [messageId = ''] = email.messageIds;
    const isLabelled =
      email.label !== null || email.messageIds.some((own) => (messageIds.get(own) ?? null) !== null);
    const add = (b: number | undefined, rank: number, name: string | null): void => {
      if (b === undefined) return;
      ties.push({
        a: index,
        b,
        messageId: name,
        rank: rank + (isLabelled && rank !== OWN_RANK && rank !== OTHER_OWN_RANK ? LABELLED_RANK : 0),
        depth: depths[index] ?? 0,
        date: email.date.getTime(),
        key: `${messageId} ${name ?? ''} ${email.id}`,
      });
    };
    for (const [at, own] of email.messageIds.entries()) {
      add(numbers.get(own), at === 0 ? OWN_RANK : OTHER_OWN_RANK, own);
    }
    if (email.anchorId !== null) add(indexes.get(email.anchorId), ANCHOR_RANK, null);
    // A link of an email to itself means nothing.
    const others = email.links.filter((link) => !email.messageIds.includes(link));
    const there = others.filter((link) => borne.has(link));
    const unborne = others.filter((link) => !borne.has(link));
    for (const [at, link] of there.entries()) add(numbers.get(link), at, link);
    for (const [at, link] of unborne.entries()) add(numbers.get(link), UNBORNE_RANK + at, link);
  }
  for (const [point, messageId] of graph.points ?? []) {
    const [a, b] = [numbers.get(messageId), numbers.get(point)];
    if (a === undefined || b === undefined) continue;
    ties.push({ a, b, messageId: null, rank: POINT_RANK, depth: 0, date: 0, key: point });
  }
  return ties;
}

export function compareTies(a: RankedTie, b: RankedTie): number {
  return (
    a.rank - b.rank || a.depth - b.depth || a.date - b.date || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  );
}

/** 0 for an email that names no other existing one; CIRCLE in circles and after them. */
function depthsOf(emails: readonly LinkedEmail[], borne: ReadonlySet<string>): readonly number[] {
  const children = new Map<string, number[]>();
  const depths = emails.map(() => CIRCLE);
  let level: number[] = [];
  for (const [index, email] of emails.entries()) {
    const parent = email.links.find((link) => borne.has(link) && !email.messageIds.includes(link));
    const siblings = parent === undefined ? level : children.get(parent);
    if (siblings !== undefined) siblings.push(index);
    else if (parent !== undefined) children.set(parent, [index]);
  }
  for (let depth = 0; level.length > 0; depth += 1) {
    for (const index of level) depths[index] = depth;
    level = level
      .flatMap((index) => emails[index]?.messageIds ?? [])
      .flatMap((id) => {
        const found = children.get(id) ?? [];
        children.delete(id);
        return found;
      });
  }
  return depths;
}
