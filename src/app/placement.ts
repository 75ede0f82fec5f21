/** Says why an email is in its thread. */
import { ServiceError } from '../core/errors.ts';
import type { Application } from './application.ts';
import type { PlacementFact, PlacementStore } from './placement-facts.ts';

export function createPlacementReads(store: PlacementStore): Pick<Application, 'explainPlacement'> {
  return {
    async explainPlacement(emailId) {
      const fact = await store.readPlacement(emailId);
      if (fact === null) throw new ServiceError('email_not_found');
      return { ...fact, explanation: explain(fact) };
    },
  };
}

function explain(fact: PlacementFact): string {
  const { rule, matchedMessageId, matchedEmails, chain } = fact;
  const id = `<${matchedMessageId ?? ''}>`;
  const seen = matchedEmails.length > 0 ? `email ${matchedEmails[0]?.id ?? ''}` : 'no email seen so far';
  switch (rule) {
    case 'thread_id':
      return 'The sender named the thread.';
    case 'decision':
      return explainDecision(fact);
    case 'in_reply_to':
      return `It answers ${id}, which is the Message-ID of ${seen} and belongs to this thread.`;
    case 'references':
      return `Its References name ${id}, which is the Message-ID of ${seen} and belongs to this thread.`;
    case 'bounce':
      return `It reports on ${id}, which is the Message-ID of ${seen} and belongs to this thread.`;
    case 'subject':
      return `It names no other email, and has the subject of ${id}, the Message-ID of ${seen}.`;
    case 'message_id':
      return `Its own Message-ID ${id} belonged to this thread already: another email has or names it.`;
    case 'new':
      return chain?.length === 0
        ? 'Nothing it names was known, so it began this thread.'
        : 'Nothing it names was known when it came; later mail tied it to the others of this thread.';
  }
}

function explainDecision({ decisions, merges }: PlacementFact): string {
  const decision = decisions.find(({ namesEmail }) => namesEmail);
  if (decision === undefined) return 'An operator moved it.';
  const { kind, threadId, otherThreadId, decidedAt } = decision;
  const at = decidedAt.toISOString();
  // Of the threads that it came from and to, one may have ended in the other since then.
  const merge = merges.find(
    (one) => (one.threadId === threadId || one.threadId === otherThreadId) && one.mergedAt >= decidedAt,
  );
  const since =
    merge === undefined
      ? ''
      : `; thread ${merge.threadId} became this one at ${merge.mergedAt.toISOString()}`;
  return `An operator ${kind === 'split' ? 'split it off' : 'moved it'} at ${at}${since}.`;
}
