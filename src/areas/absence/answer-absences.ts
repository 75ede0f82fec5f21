/**
 * Answers for people who are away: a durable worker. The transaction that records an email stores that it may be answered; this loop decides,
 * once for each person and week, and puts the answer into the queue under an identifier that was chosen with the decision. Whatever stops it,
 * and wherever, it goes on from what is stored, and a repeat records no second answer.
 */
import { absenceSubject, type OutOfOffice } from '../../core/absence/out-of-office.ts';
import { answeringIdentity } from '../../core/accounts/sender-addresses.ts';
import { parseAddressList } from '../../core/address/address-list.ts';
import { addrSpec, type Address } from '../../core/address/address.ts';
import { ServiceError } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { Account, Logger } from '../../platform/base/basics.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../../platform/base/limits.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';
import type { Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { EmailDetail, EmailStore } from '../emails/email-ports.ts';
import type { SendRequest, SendResult } from '../send/use-cases.ts';
import type { AbsenceStore, ClaimedAnswer } from './absence-ports.ts';

export interface AnswerAbsencesPorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly absences: AbsenceStore;
  readonly emails: Pick<EmailStore, 'readEmail'>;
  /** Takes over the folder. */
  readonly send: (request: SendRequest, folder: SpoolFolder, emailId: string) => Promise<SendResult>;
  readonly spool: Pick<Spool, 'create'>;
  readonly logger: Logger;
}

/** Marks the answers in lists and events. */
export const OUT_OF_OFFICE_TAG = 'out-of-office';

/** The minimum between two rounds. */
const INTERVAL_MS = 500;
const RETRY_MS = 5000;

export function startAbsenceAnswerer(ports: AnswerAbsencesPorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    waitsForWake: true,
    failure: 'automatic answers can not be decided about; trying again',
    logger: ports.logger,
    run: (signal) => answerAbsences(ports, signal),
  });
}

async function answerAbsences(ports: AnswerAbsencesPorts, signal: AbortSignal): Promise<void> {
  const away = [...ports.accounts.values()].flatMap(({ id, outOfOffice = null }) =>
    outOfOffice === null ? [] : [{ accountId: id, from: outOfOffice.from, until: outOfOffice.until }],
  );
  while ((await ports.absences.choose(away)) > 0) if (signal.aborted) return;
  for (;;) {
    const claimed = await ports.absences.claim(away);
    if (claimed.length === 0) return;
    for (const answer of claimed) {
      // What is left is claimed again when its time has run out.
      if (signal.aborted) return;
      await answerOne(ports, answer);
    }
  }
}

async function answerOne(ports: AnswerAbsencesPorts, answer: ClaimedAnswer): Promise<void> {
  const { absences, logger } = ports;
  const { accountId, emailId, answerId } = answer;
  try {
    const request = answer.isTooLate ? null : await toRequest(ports, answer);
    if (request !== null) {
      await ports.send(request, ports.spool.create(), answerId);
      logger.info({ accountId, emailId, answerId }, 'an email is answered automatically: out of office');
    }
    await absences.settle(answerId);
  } catch (err) {
    const isOver = err instanceof ServiceError && !err.temporary;
    // A loop, a suppressed address, or a thread that is gone.
    logger.warn(
      { err, accountId, emailId },
      isOver ? 'an email gets no automatic answer' : 'an automatic answer is put off',
    );
    await (isOver ? absences.settle(answerId) : absences.putOff(answerId));
  }
}

/** null: there is nothing to answer any more. */
async function toRequest(
  { accounts, emails }: AnswerAbsencesPorts,
  { accountId, address, emailId }: ClaimedAnswer,
): Promise<SendRequest | null> {
  const account = accounts.get(accountId);
  const outOfOffice = account?.outOfOffice ?? null;
  const email = account === undefined || outOfOffice === null ? null : await emails.readEmail(emailId);
  if (account === undefined || outOfOffice === null || email === null || email.direction !== 'inbound')
    return null;
  return {
    ...NOTHING_ELSE,
    to: [address],
    ...textsOf(outOfOffice, email),
    inReplyTo: formatMessageId(email.messageId),
    answeredEmailId: email.id,
    threadId: email.threadId,
    accountId,
    from: writtenTo(account, email),
    autoSubmitted: 'auto-replied',
    tags: [OUT_OF_OFFICE_TAG],
    // From the queue, which keeps the rates, and goes on after a failure.
    respondAsync: true,
  };
}

const NOTHING_ELSE = {
  cc: [],
  bcc: [],
  customerId: null,
  companyId: null,
  attachments: [],
  sendAt: null,
  // Behind what people write.
  priority: 'low',
  lane: 'out-of-office',
  replyTo: [],
  fromName: null,
  headers: {},
  metadata: {},
  unsubscribeList: null,
  authorKeyId: null,
  isByPerson: false,
  template: null,
} as const satisfies Partial<SendRequest>;

const textsOf = (
  outOfOffice: OutOfOffice,
  email: EmailDetail,
): Pick<SendRequest, 'subject' | 'textBody' | 'htmlBody'> => ({
  subject: absenceSubject(outOfOffice, email.subject, MAX_SENT_SUBJECT_CHARS),
  textBody: outOfOffice.text,
  htmlBody: outOfOffice.html,
});

/** The address of the account that the email names; null: its usual one. */
function writtenTo(account: Account, { to, cc }: EmailDetail): string | null {
  const identity = answeringIdentity(account, [...to, ...cc].flatMap(toAddresses));
  return identity === null ? null : addrSpec(identity.from);
}

/** A received header may hold an invalid address. */
function toAddresses({ address }: { readonly address: string }): readonly Address[] {
  try {
    return parseAddressList(address, 'from');
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}
