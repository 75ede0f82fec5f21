/** Explains why an email is in its thread. */
import { ServiceError } from '../../core/errors.ts';
import type { ThreadUseCases } from './use-cases.ts';
import type { PlacementFact, PlacementStore } from './placement-facts.ts';

export function createPlacementReads(store: PlacementStore): Pick<ThreadUseCases, 'explainPlacement'> {
  return {
    async explainPlacement(emailId) {
      const fact = await store.readPlacement(emailId);
      if (fact === null) throw new ServiceError('email_not_found');
      return { ...fact, explanation: explain(fact) };
    },
  };
}

function explain(fact: PlacementFact): string {
  return [explainRule(fact), ...explainRefused(fact)].join(' ');
}

function explainRule(fact: PlacementFact): string {
  const { rule, matchedMessageId, matchedEmails, merges } = fact;
  const id = `<${matchedMessageId ?? ''}>`;
  const seen = matchedEmails.length > 0 ? `email ${matchedEmails[0]?.id ?? ''}` : 'no email seen so far';
  const place = `which is the Message-ID of ${seen} and ${explainMatched(fact)}`;
  switch (rule) {
    case 'thread_id':
      return merges.length === 0
        ? 'The sender named the thread.'
        : 'The sender named the thread, or one that ended in it.';
    case 'decision':
      return explainDecision(fact);
    case 'in_reply_to':
      return `It answers ${id}, ${place}.`;
    case 'references':
      return `Its References name ${id}, ${place}.`;
    case 'bounce':
      return `It reports on ${id}, ${place}.`;
    case 'subject':
      return `It names no other email, and has the subject of ${id}, ${place}.`;
    case 'message_id':
      return `Its own Message-ID ${id} was known when it came: another email has or names it.`;
    case 'new':
      return explainNew(fact);
  }
}

/** The Message-ID that decided may be in another thread by now. */
function explainMatched({ matchedThreadId, threadId, decisions }: PlacementFact): string {
  if (matchedThreadId === threadId) return 'belongs to this thread';
  if (matchedThreadId === null) return 'belongs to no thread any more';
  const apart = decisions.length > 0 ? '; an operator took the two apart' : '';
  return `belongs to thread ${matchedThreadId} by now${apart}`;
}

function explainNew({ chain, merges }: PlacementFact): string {
  if (chain?.length === 0) {
    return merges.length === 0
      ? 'Nothing it names was known, so it began this thread.'
      : 'Nothing it names was known, so it began a thread, which is this one now.';
  }
  const since =
    chain === null
      ? 'what ties it to the first email of this thread is not told'
      : chain.some(({ rule }) => rule === 'decision')
        ? 'an operator put it together with the first email of this thread'
        : 'later mail tied it to the others of this thread';
  return `Nothing it names was known when it came; ${since}.`;
}

function explainRefused({ refused }: PlacementFact): readonly string[] {
  const [first] = refused;
  if (first === undefined) return [];
  const others = refused.length === 1 ? '' : `, and ${refused.length - 1} more`;
  return [
    `It also names <${first.messageId}> of thread ${first.otherThreadId}${others}: mail joins no threads that sends named ` +
      'for different customers.',
  ];
}

function explainDecision({ decisions, merges }: PlacementFact): string {
  const decision = decisions.find(({ namesEmail }) => namesEmail);
  if (decision === undefined) return 'An operator moved it.';
  const { kind, threadId, otherThreadId, decidedAt } = decision;
  const at = decidedAt.toISOString();
  // The thread that the email left, or the one that it moved to, may have been merged into the other since then.
  const merge = merges.find(
    (one) => (one.threadId === threadId || one.threadId === otherThreadId) && one.mergedAt >= decidedAt,
  );
  const since =
    merge === undefined
      ? ''
      : `; thread ${merge.threadId} became this one at ${merge.mergedAt.toISOString()}`;
  return `An operator ${kind === 'split' ? 'split it off' : 'moved it'} at ${at}${since}.`;
}
