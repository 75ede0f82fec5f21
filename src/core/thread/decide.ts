/**
 * The effect of an operator's decision about threads. It freezes the threads it concerns in their new form: every
 * Message-ID in them gets a label, one for each thread, and so does every email that its Message-ID does not hold. Later
 * emails follow their links (link-graph.ts).
 */

export interface DecidedEmail {
  readonly id: string;
  readonly threadId: string;
  readonly messageIds: readonly string[];
  readonly links: readonly string[];
}

/**
 * The threads of the Message-IDs when emails leave their threads for `target`: a Message-ID goes along when all emails that
 * bear it leave; one that no email bears, when all emails that name it leave. So replies go to the email that they answer. A
 * thread that all emails leave keeps nothing, not even the placeholders for Message-IDs of deleted emails.
 */
export function moveMessageIdsAlong(
  emails: readonly DecidedEmail[],
  owners: ReadonlyMap<string, string | null>,
  leaving: ReadonlySet<string>,
  target: string,
): ReadonlyMap<string, string> {
  const staying = { bearing: new Set<string>(), naming: new Set<string>() };
  const going = { bearing: new Set<string>(), naming: new Set<string>() };
  for (const email of emails) {
    const side = leaving.has(email.id) ? going : staying;
    const inThread = (id: string) => owners.get(id) === email.threadId;
    for (const id of email.messageIds.filter(inThread)) side.bearing.add(id);
    for (const id of email.links.filter(inThread)) side.naming.add(id);
  }
  const kept = new Set([
    target,
    ...emails.filter(({ id }) => !leaving.has(id)).map(({ threadId }) => threadId),
  ]);
  const threads = new Map<string, string>();
  for (const [id, owner] of owners) {
    if (owner === null) continue;
    const isBorne = staying.bearing.has(id) || going.bearing.has(id);
    const goes = isBorne ? !staying.bearing.has(id) : going.naming.has(id) && !staying.naming.has(id);
    threads.set(id, goes || !kept.has(owner) ? target : owner);
  }
  return threads;
}

/**
 * The emails of a decision's threads that need labels of their own, with their threads from now on: the emails that it
 * names, and those that their Message-ID does not hold there, since it is in another thread. An example is a send that its
 * caller put into a thread, while others had named its Message-ID elsewhere.
 *
 * @param threads of Message-IDs
 * @param threadOf of an email
 */
export function threadsOfLabelled(
  emails: readonly DecidedEmail[],
  named: ReadonlySet<string>,
  threads: ReadonlyMap<string, string>,
  threadOf: (email: DecidedEmail) => string,
): ReadonlyMap<string, string> {
  const isHeld = ({ messageIds: [own = ''] }: DecidedEmail, thread: string) => threads.get(own) === thread;
  return new Map(
    emails.flatMap((email): [string, string][] => {
      const thread = threadOf(email);
      return named.has(email.id) || !isHeld(email, thread) ? [[email.id, thread]] : [];
    }),
  );
}

/** Two labels that never come together, or two threads. */
export type Pair = readonly [string, string];

/**
 * The separations after a decision. `before`: the separations of the old labels, each end a thread of the decision, or
 * another label. `heirs`: the threads from which each thread of the decision inherits its separations from others;
 * old ones within are kept unless both ends came together. `apart`: the new separations.
 */
export function separationsAfter(
  before: readonly Pair[],
  heirs: ReadonlyMap<string, readonly string[]>,
  apart: readonly Pair[],
): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  const add = (a: string, b: string): void => {
    if (a === b) return;
    const pair: Pair = a < b ? [a, b] : [b, a];
    pairs.set(pair.join(), pair);
  };
  for (const [a, b] of before) {
    for (const one of heirs.get(a) ?? [a]) for (const other of heirs.get(b) ?? [b]) add(one, other);
  }
  for (const [a, b] of apart) add(a, b);
  return [...pairs.values()];
}
