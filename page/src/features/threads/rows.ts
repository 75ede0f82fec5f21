/** A line of the list, whatever it shows: a thread, an email that went out, or a draft. */
import { draftAuthor } from '../write/draft-author.ts';
import { foldText } from '../thread/quotes.ts';
import { shown } from '../../ui/shown.ts';
import type { Address, DraftSummary, EmailListing, EmailState, ThreadSummary } from 'email-worker-client';

export interface Row {
  /** The id of the thread, email or draft: unique in its list. */
  readonly id: string;
  /** The thread that the line opens; null for a draft of a new message. */
  readonly threadId: string | null;
  readonly draftId: string | null;
  /** The senders, or with `isOutgoing` the recipients. */
  readonly people: readonly Address[];
  /** Something deceives about the sender of the newest email. */
  readonly isDeceptive: boolean;
  readonly isOutgoing: boolean;
  /** True for a draft that answers or forwards an email. */
  readonly isAnswer: boolean;
  readonly subject: string;
  readonly snippet: string;
  /** ISO 8601. */
  readonly at: string;
  readonly isUnread: boolean;
  readonly isUnanswered: boolean;
  /** Something of the thread was not delivered, and waits for a person. */
  readonly isUndelivered: boolean;
  readonly emailCount: number;
  readonly hasFiles: boolean;
  readonly labels: readonly string[];
  readonly assignee: string | null;
  readonly assigneeName: string | null;
  readonly status: ThreadSummary['status'] | null;
  /** The state of a single email; null for a thread. */
  readonly state: EmailState | null;
  readonly customerId: string | null;
  readonly accountId: string;
  /** Whose draft it is; null: it is none. */
  readonly author: string | null;
}

/** The number of characters that a line can show. */
const MAX_SNIPPET = 200;

export function toThreadRow(thread: ThreadSummary): Row {
  const { newest_email: newest } = thread;
  const isOutgoing = newest.direction === 'outbound';
  // Who a bounce is about says more than the machine that wrote it.
  const isBounce = newest.automatic === 'bounce';
  const ours = new Set(
    [newest.from_address, ...(isBounce ? newest.to_addresses : [])].map(({ address }) => address),
  );
  const others = thread.participants.filter(({ address }) => !ours.has(address));
  const isToOthers = (isOutgoing || isBounce) && others.length > 0;
  return {
    id: thread.id,
    threadId: thread.id,
    draftId: null,
    people: isToOthers ? others : [newest.from_address],
    isDeceptive: newest.sender_warnings.length > 0,
    isOutgoing: isToOthers,
    isAnswer: false,
    subject: shown(thread.subject),
    snippet: shown(newest.snippet),
    at: thread.last_activity_at,
    isUnread: thread.unread_count > 0,
    isUnanswered: thread.unanswered,
    isUndelivered: thread.undelivered > 0,
    emailCount: thread.email_count,
    hasFiles: thread.has_attachments,
    labels: thread.labels,
    assignee: thread.assignee,
    assigneeName: thread.assignee_name,
    status: thread.status,
    state: null,
    customerId: thread.customer_id,
    accountId: thread.account_id,
    author: null,
  };
}

const PLAIN = {
  draftId: null,
  isDeceptive: false,
  isAnswer: false,
  isUnread: false,
  isUnanswered: false,
  isUndelivered: false,
  emailCount: 1,
  labels: [],
  assignee: null,
  assigneeName: null,
  status: null,
  author: null,
} as const;

export function toEmailRow(email: EmailListing): Row {
  return {
    ...PLAIN,
    id: email.id,
    accountId: email.account_id,
    threadId: email.thread_id,
    people: email.to_addresses,
    isOutgoing: true,
    subject: shown(email.subject),
    // Below a short answer only the quote would be visible.
    snippet: shown(foldText(email.text_body, null).shown).slice(0, MAX_SNIPPET).replace(/\s+/g, ' '),
    at: email.next_attempt_at ?? email.date,
    hasFiles: email.has_attachments,
    state: email.state,
    customerId: null,
  };
}

export function toDraftRow(draft: DraftSummary): Row {
  return {
    ...PLAIN,
    id: draft.id,
    threadId: draft.thread_id,
    draftId: draft.id,
    author: draftAuthor(draft),
    accountId: draft.account_id,
    people: draft.to === '' ? [] : [{ name: draft.to, address: draft.to }],
    isOutgoing: true,
    isAnswer: draft.answers !== null,
    subject: shown(draft.subject),
    snippet: '',
    at: draft.updated_at,
    hasFiles: draft.file_count > 0,
    state: null,
    customerId: null,
  };
}

/** The name that is shown; empty where the mail names no person. */
export const nameOf = ({ name, address }: Address): string => shown(name === '' ? address : name);

/** Name and address, or the one of both that there is. */
export const inFull = ({ name, address }: Address): string =>
  shown(name === '' || address === '' ? name || address : `${name} <${address}>`);
