/**
 * Decides who wrote a received email, from its marks (automatic.ts) and from what was known of its sender when it was recorded. A person
 * who is taken for a machine is not seen; a machine that is taken for a person costs a click. So only a program that declares itself, an
 * answer that only repeats our subject, and a newsletter of a stranger count as a machine's.
 */
import { readBaseSubject } from '../message/base-subject.ts';
import type { AutomaticMail } from './automatic.ts';

/** `unsure`: a person or a machine; treated like a person's. */
export const WRITERS = ['person', 'machine', 'unsure'] as const;
export type Writer = (typeof WRITERS)[number];

export interface WriterFacts {
  /** The subjects of the sent emails that it answers; empty when it answers none of ours. */
  readonly answeredSubjects: readonly string[];
  /** The sender belongs to a customer, or is an address that we wrote to. */
  readonly isKnownSender: boolean;
}

/** True when `judgeWriter` uses the facts. */
export const needsFacts = (marks: AutomaticMail | null): boolean =>
  marks?.sign === 'mass' || marks?.sign === 'doubt';

export function judgeWriter(marks: AutomaticMail | null, facts: WriterFacts): Writer {
  if (marks === null || marks.sign === 'none') return 'person';
  const { kind, repeats, sign } = marks;
  const { answeredSubjects, isKnownSender } = facts;
  if (sign === 'machine') return 'machine';
  if (repeats !== null && answeredSubjects.some((subject) => readBaseSubject(subject).base === repeats))
    return 'machine';
  const isSentToMany = kind === 'list' || kind === 'bulk';
  if (isSentToMany && (answeredSubjects.length > 0 || isKnownSender)) return 'person';
  return sign === 'mass' ? 'machine' : 'unsure';
}
