/**
 * Determines which emails and Message-IDs belong together: a pure function of the links of the stored emails, of the
 * customers that sends named and of operators' decisions, so that the order in which mail came does not matter.
 *
 * A thread consists of the emails that links connect (RFC 5256 §3, REFERENCES), with two exceptions. A decision gives the
 * emails and Message-IDs of the threads it concerns a label each; equal labels belong together, separated ones never do.
 * And a link never brings sends of different parties together: see docs/decisions/0016-refused-merges.md.
 *
 * Where either applies, the links are taken in order of their weight, and a link that would join separated threads or two
 * parties is skipped: first the email beside which a caller put its send, then the Message-IDs that each email bears, then the
 * first link of every email to an existing one, then the second, and so on; links to Message-IDs that no email bears come
 * last. Among links of one rank those nearer to the beginning of a conversation come first. So a reply goes to the thread
 * of the email that it answers, and an email that names another one can't pull that away from the email that it answers.
 */
import type { LinkGraph } from './linked-email.ts';
import { compareTies, rankTies, type RankedTie } from './rank-ties.ts';
import { createSeparatedSets } from './separated-sets.ts';

/** A link that would have brought two parties together. */
export interface RefusedLink {
  readonly emailId: string;
  readonly messageId: string;
}

/** Equal numbers: the same thread. */
export interface Groups {
  /** Same order as the emails. */
  readonly emails: readonly number[];
  readonly messageIds: ReadonlyMap<string, number>;
  /** For each email and each other group the strongest refused link. */
  readonly refused: readonly RefusedLink[];
  /** Something was refused, or is separated. */
  readonly areKeptApart: boolean;
}

export function groupByLinks(graph: LinkGraph): Groups {
  const { emails, messageIds, separations } = graph;
  const numbers = new Map([...messageIds.keys()].map((id, index) => [id, emails.length + index] as const));
  const sets = createSeparatedSets(emails.length + messageIds.size);
  const labels = [...emails.map(({ label }) => label), ...messageIds.values()];
  joinEqual(labels, sets.join);
  if (separations.length > 0) sets.separate(labels, separations);
  for (const [index, { partyId }] of emails.entries()) if (partyId !== null) sets.addParty(index, partyId);

  const ties = rankTies(graph, numbers);
  // Where nothing is kept apart every tie counts, so their order does not matter.
  const parties = new Set(emails.flatMap(({ partyId }) => partyId ?? []));
  const isContested = separations.length > 0 || parties.size > 1;
  if (isContested) ties.sort(compareTies);
  for (const { a, b } of ties) if (!sets.areOfTwoParties(a, b)) sets.join(a, b);
  return {
    emails: emails.map((_, index) => sets.find(index)),
    messageIds: new Map([...numbers].map(([id, number]) => [id, sets.find(number)])),
    refused: isContested ? refusedOf(graph, ties, sets) : [],
    areKeptApart:
      separations.length > 0 || (isContested && ties.some(({ a, b }) => sets.areOfTwoParties(a, b))),
  };
}

function joinEqual(labels: readonly (string | null)[], join: (a: number, b: number) => void): void {
  const first = new Map<string, number>();
  for (const [number, label] of labels.entries()) {
    if (label === null) continue;
    const other = first.get(label);
    if (other === undefined) first.set(label, number);
    else join(other, number);
  }
}

/** A link across an operator's separation is decided, not refused. */
function refusedOf(
  { emails }: LinkGraph,
  ties: readonly RankedTie[],
  sets: ReturnType<typeof createSeparatedSets>,
): readonly RefusedLink[] {
  const refused = new Map<string, RefusedLink>();
  for (const { a, b, messageId } of ties) {
    const email = emails[a];
    if (email === undefined || messageId === null || !sets.areOfTwoParties(a, b)) continue;
    if (sets.areSeparated(a, b)) continue;
    const key = `${a} ${sets.find(b)}`;
    if (!refused.has(key)) refused.set(key, { emailId: email.id, messageId });
  }
  return [...refused.values()];
}
