/**
 * Which emails and Message-IDs belong together when operators have decided something: a pure function of the links of
 * the stored emails and of the decisions, so that the order in which mail came does not matter.
 *
 * Without decisions a thread is whatever the links connect (RFC 5256 §3, REFERENCES). A decision gives the emails and
 * Message-IDs of the threads it concerns a label each; equal labels belong together, separated ones never do. What has
 * no label follows its links, the most telling first: every email first joins what it answers, then the next link of
 * every email counts, and so on; a link that would join what is separated is passed over. So a reply goes where the
 * email is that it answers, also when its References name what that email was taken away from.
 */

export interface LinkedEmail {
  readonly id: string;
  /** Its own Message-IDs: its header's, then the relay's. */
  readonly messageIds: readonly string[];
  /** An email it was put beside by hand; null for none. */
  readonly anchorId: string | null;
  /** The Message-IDs that tie it to others, the most telling first. */
  readonly links: readonly string[];
  readonly date: Date;
  /** Of a decision about this email; null when there was none. */
  readonly label: string | null;
}

export interface LinkGraph {
  readonly emails: readonly LinkedEmail[];
  /** Every Message-ID that the emails bear or name, and any others, with their labels. */
  readonly messageIds: ReadonlyMap<string, string | null>;
  /** Pairs of labels that never come together. */
  readonly separations: readonly (readonly [string, string])[];
}

/** Equal numbers: the same thread. */
export interface Groups {
  /** Same order as the emails. */
  readonly emails: readonly number[];
  readonly messageIds: ReadonlyMap<string, number>;
}

/** A tie between two things of the graph, by their numbers. */
interface Tie {
  readonly a: number;
  readonly b: number;
  /** Lower ones count first. */
  readonly rank: number;
  /** Order of ties of one rank. */
  readonly date: number;
  readonly key: string;
}

/** Before any link: an email and its own Message-ID are one. */
const OWN_RANK = -1;
/** Behind all others: the place of a labelled email is known without its links. */
const LABELLED_RANK = 1_000_000;

export function groupByLinks(graph: LinkGraph): Groups {
  const { emails, messageIds, separations } = graph;
  const numbers = new Map([...messageIds.keys()].map((id, index) => [id, emails.length + index] as const));
  const sets = createSets(emails.length + messageIds.size);
  const isSeparating = separations.length > 0;
  const labels = [...emails.map(({ label }) => label), ...messageIds.values()];
  joinEqual(labels, sets.join);
  if (isSeparating) sets.separate(labels, separations);

  const ties = tiesOf(graph, numbers);
  // Without separations every tie counts, and so their order does not.
  if (isSeparating) ties.sort(compareTies);
  for (const { a, b } of ties) sets.join(a, b);
  return {
    emails: emails.map((_, index) => sets.find(index)),
    messageIds: new Map([...numbers].map(([id, number]) => [id, sets.find(number)])),
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

function tiesOf({ emails, messageIds }: LinkGraph, numbers: ReadonlyMap<string, number>): Tie[] {
  const places = new Map(emails.map(({ id }, index) => [id, index] as const));
  const ties: Tie[] = [];
  for (const [index, email] of emails.entries()) {
    const [messageId = ''] = email.messageIds;
    const isLabelled =
      email.label !== null || email.messageIds.some((own) => (messageIds.get(own) ?? null) !== null);
    const add = (other: number | undefined, rank: number, name: string): void => {
      if (other === undefined) return;
      const late = isLabelled && rank !== OWN_RANK ? LABELLED_RANK : 0;
      const key = `${messageId} ${name} ${email.id}`;
      ties.push({ a: index, b: other, rank: rank + late, date: email.date.getTime(), key });
    };
    for (const own of email.messageIds) add(numbers.get(own), OWN_RANK, own);
    const anchors = email.anchorId === null ? [] : [email.anchorId];
    for (const anchor of anchors) add(places.get(anchor), 0, anchor);
    for (const [at, link] of email.links.entries()) add(numbers.get(link), anchors.length + at, link);
  }
  return ties;
}

function compareTies(a: Tie, b: Tie): number {
  return a.rank - b.rank || a.date - b.date || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

interface Sets {
  find(number: number): number;
  /** Does nothing when the two are separated. */
  join(a: number, b: number): void;
  /** To be called after equal labels are joined. */
  separate(labels: readonly (string | null)[], pairs: LinkGraph['separations']): void;
}

/** Union-find whose sets know from which others they are separated. */
function createSets(size: number): Sets {
  const parents = Uint32Array.from({ length: size }, (_, index) => index);
  /** Root → roots it never joins; kept for both sides. */
  const foes = new Map<number, Set<number>>();

  const find = (number: number): number => {
    let root = number;
    while (parents[root] !== root) root = parents[root] ?? root;
    let at = number;
    while (at !== root) {
      const next = parents[at] ?? root;
      parents[at] = root;
      at = next;
    }
    return root;
  };

  const join = (a: number, b: number): void => {
    const [kept, gone] = [find(a), find(b)];
    if (kept === gone || foes.get(kept)?.has(gone) === true) return;
    parents[gone] = kept;
    const taken = foes.get(gone);
    if (taken === undefined) return;
    foes.delete(gone);
    for (const foe of taken) {
      foes.get(foe)?.delete(gone);
      oppose(kept, foe);
    }
  };

  const oppose = (a: number, b: number): void => {
    for (const [one, other] of [[a, b] as const, [b, a] as const]) {
      const known = foes.get(one);
      if (known === undefined) foes.set(one, new Set([other]));
      else known.add(other);
    }
  };

  return {
    find,
    join,
    separate(labels, pairs) {
      const places = new Map<string, number>();
      for (const [number, label] of labels.entries()) if (label !== null) places.set(label, number);
      for (const [one, other] of pairs) {
        const [a, b] = [places.get(one), places.get(other)];
        // A label outside of the graph separates nothing in it.
        if (a !== undefined && b !== undefined) oppose(find(a), find(b));
      }
    },
  };
}
