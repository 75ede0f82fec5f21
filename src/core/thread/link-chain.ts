/** The shortest chain of ties between two emails of a thread, to show people why they are together. */
import type { InboundLink, LinkRule } from './place-inbound.ts';

export interface ChainedEmail {
  readonly id: string;
  readonly messageIds: readonly string[];
  readonly namedLinks: readonly InboundLink[];
  /** The email beside which its sender put it; null for none. */
  readonly anchorId: string | null;
  readonly label: string | null;
}

/** `message_id`: the email has the Message-ID. `thread_id`: its sender put it here. `decision`: an operator did. */
export interface Tie {
  readonly emailId: string;
  readonly rule: LinkRule | 'thread_id' | 'decision';
  /** null if the tie involves no Message-ID. */
  readonly messageId: string | null;
}

interface Step {
  readonly to: string;
  readonly tie: Tie | null;
}

/**
 * The chain from `fromId` to `toId`, in order; each email has the tie to the next one. Empty when they are the same, null
 * when nothing ties them together. `labels`: those of Message-IDs.
 */
export function chainBetween(
  emails: readonly ChainedEmail[],
  labels: ReadonlyMap<string, string | null>,
  fromId: string,
  toId: string,
): readonly Tie[] | null {
  const steps = stepsOf(emails, labels);
  const cameBy = new Map<string, { readonly from: string; readonly tie: Tie | null }>();
  const start = `email ${fromId}`;
  let edge = [start];
  const seen = new Set(edge);
  while (edge.length > 0 && !seen.has(`email ${toId}`)) {
    const next: string[] = [];
    for (const from of edge) {
      for (const { to, tie } of steps.get(from) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        cameBy.set(to, { from, tie });
        next.push(to);
      }
    }
    edge = next;
  }
  if (!seen.has(`email ${toId}`)) return null;
  const ties: Tie[] = [];
  for (let at = `email ${toId}`; at !== start;) {
    const step = cameBy.get(at);
    if (step === undefined) return null;
    if (step.tie !== null) ties.push(step.tie);
    at = step.from;
  }
  return ties.reverse();
}

/** The steps in both directions between emails, Message-IDs and labels. */
function stepsOf(
  emails: readonly ChainedEmail[],
  labels: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, readonly Step[]> {
  const steps = new Map<string, Step[]>();
  const add = (a: string, b: string, tie: Tie | null): void => {
    for (const [from, to] of [[a, b] as const, [b, a] as const]) {
      const known = steps.get(from);
      if (known === undefined) steps.set(from, [{ to, tie }]);
      else known.push({ to, tie });
    }
  };
  for (const { id, messageIds, namedLinks, anchorId, label } of emails) {
    const email = `email ${id}`;
    for (const { rule, messageId } of namedLinks)
      add(email, `id ${messageId}`, { emailId: id, rule, messageId });
    for (const own of messageIds)
      add(email, `id ${own}`, { emailId: id, rule: 'message_id', messageId: own });
    if (anchorId !== null)
      add(email, `email ${anchorId}`, { emailId: id, rule: 'thread_id', messageId: null });
    const held = label ?? messageIds.map((own) => labels.get(own)).find((one) => typeof one === 'string');
    if (held !== undefined) add(email, `label ${held}`, { emailId: id, rule: 'decision', messageId: null });
  }
  for (const [id, label] of labels) if (label !== null) add(`id ${id}`, `label ${label}`, null);
  return steps;
}
