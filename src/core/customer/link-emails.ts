/**
 * Finds the customer and the company of a thread and of each of its emails, from the ids that sends named and from the
 * rules. Everything but the ids that a send named is derived, and can be recomputed at any time.
 *
 * Order of decision for an email: the ids of its send, then the thread's, then the rules. A thread belongs to the
 * customer that an operator chose for it; else to the one that the first of its sends named; else to the customer of the
 * first email for which the rules find one. First means recorded first. A stranger in the thread (marked `new_participant`,
 * or placed in it only because others named the Message-ID) neither decides for the thread nor takes anything from it:
 * only the rules about its own address count.
 */
import type { Match, RuleSource } from './match.ts';

/** Why an email has its customer, or has none (`ambiguous`). null: nothing points to any customer. */
export const CUSTOMER_SOURCES = ['explicit', 'thread', 'address', 'domain', 'ambiguous'] as const;
export type CustomerSource = (typeof CUSTOMER_SOURCES)[number];

/** Why an email has its company. `registration`: that of its customer. */
export const COMPANY_SOURCES = ['explicit', 'thread', 'registration'] as const;
export type CompanySource = (typeof COMPANY_SOURCES)[number];

export interface LinkedMail {
  readonly id: string;
  /** The customer that its send named. */
  readonly namedCustomerId: string | null;
  readonly namedCompanyId: string | null;
  readonly isStranger: boolean;
  /** The match by the rules alone; see matchAll. */
  readonly match: Match;
}

export interface Link<Customer, Company> {
  readonly customerId: string | null;
  readonly customerSource: Customer | null;
  readonly companyId: string | null;
  readonly companySource: Company | null;
}

export type EmailLink = Link<CustomerSource, CompanySource>;
export type ThreadLink = Link<'explicit' | RuleSource, 'explicit' | 'registration'>;

export interface ThreadLinks {
  readonly thread: ThreadLink;
  /** Same order as the emails. */
  readonly emails: readonly EmailLink[];
}

/** The ids that an operator chose for a thread; null: none. */
export interface ChosenLink {
  readonly customerId: string | null;
  readonly companyId: string | null;
}

const NOTHING_CHOSEN: ChosenLink = { customerId: null, companyId: null };

/** `emails` in the order in which they were recorded. `companyOf`: the company registered for a customer. */
export function linkEmails(
  emails: readonly LinkedMail[],
  companyOf: (customerId: string) => string | null,
  chosen: ChosenLink = NOTHING_CHOSEN,
): ThreadLinks {
  const thread = threadLink(emails, companyOf, chosen);
  return { thread, emails: emails.map((email) => emailLink(email, thread, companyOf)) };
}

function threadLink(
  emails: readonly LinkedMail[],
  companyOf: (customerId: string) => string | null,
  chosen: ChosenLink,
): ThreadLink {
  const named =
    chosen.customerId ??
    emails.find(({ namedCustomerId }) => namedCustomerId !== null)?.namedCustomerId ??
    null;
  const company =
    chosen.companyId ?? emails.find(({ namedCompanyId }) => namedCompanyId !== null)?.namedCompanyId ?? null;
  const match = emails.find((email) => email.match.kind === 'customer' && !email.isStranger)?.match;
  const byRule = match?.kind === 'customer' ? match : null;
  const customerId = named ?? byRule?.customerId ?? null;
  const registered = customerId === null ? null : companyOf(customerId);
  return {
    customerId,
    customerSource: named === null ? (byRule?.source ?? null) : 'explicit',
    companyId: company ?? registered,
    companySource: company !== null ? 'explicit' : registered === null ? null : 'registration',
  };
}

function emailLink(
  email: LinkedMail,
  thread: ThreadLink,
  companyOf: (customerId: string) => string | null,
): EmailLink {
  const { customerId, customerSource } = customerOf(email, email.isStranger ? NOBODYS : thread);
  if (email.namedCompanyId !== null) {
    return { customerId, customerSource, companyId: email.namedCompanyId, companySource: 'explicit' };
  }
  if (thread.companySource === 'explicit' && !email.isStranger) {
    return { customerId, customerSource, companyId: thread.companyId, companySource: 'thread' };
  }
  const companyId = customerId === null ? null : companyOf(customerId);
  return { customerId, customerSource, companyId, companySource: companyId === null ? null : 'registration' };
}

const NOBODYS: ThreadLink = { customerId: null, customerSource: null, companyId: null, companySource: null };

function customerOf(
  { namedCustomerId, match }: LinkedMail,
  thread: ThreadLink,
): Pick<EmailLink, 'customerId' | 'customerSource'> {
  if (namedCustomerId !== null) return { customerId: namedCustomerId, customerSource: 'explicit' };
  const matched = match.kind === 'customer' ? match : null;
  if (thread.customerId !== null) {
    const agrees = thread.customerSource !== 'explicit' && matched?.customerId === thread.customerId;
    return { customerId: thread.customerId, customerSource: agrees ? matched.source : 'thread' };
  }
  if (matched !== null) return { customerId: matched.customerId, customerSource: matched.source };
  return { customerId: null, customerSource: match.kind === 'ambiguous' ? 'ambiguous' : null };
}
