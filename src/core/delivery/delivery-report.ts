/**
 * Matches a report that came back to the recipients of a sent email. Any sender can forge a report: it is believed when
 * it names a Message-ID that can't be guessed, and only about recipients of that very email.
 */
import type { Bounce } from './bounce.ts';
import type { BounceRecipient } from './bounce-recipient.ts';
import type { DeliveryState } from './states.ts';

/**
 * From the least to the most significant: when a recipient has several reports, the one latest in this list is shown,
 * in whatever order they came.
 *
 * - `delayed`: a server is still trying.
 * - `relayed`, `expanded`: handed on to a server that sends no reports, or to several addresses.
 * - `delivered`: the message is in the mailbox.
 * - `bounced_soft`: not delivered, which says nothing about the address: mailbox full, tried in vain, too large.
 * - `blocked`: refused for its contents, its sender or a policy.
 * - `bounced_hard`: the address takes no mail.
 * - `complained`: the reader called it spam.
 */
export const REPORT_OUTCOMES = [
  'delayed',
  'relayed',
  'expanded',
  'delivered',
  'bounced_soft',
  'blocked',
  'bounced_hard',
  'complained',
] as const;
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** The content of a report about one recipient. */
export interface DeliveryReport {
  readonly outcome: ReportOutcome;
  /** RFC 3463, such as `5.1.1`; null when the report has none. */
  readonly status: string | null;
  /** The server's words on one line, at most 1,000 characters; empty when there are none. */
  readonly diagnostic: string;
  /** When the report was written, as far as that is plausible. */
  readonly reportedAt: Date;
  /** The received email that is the report. */
  readonly reportId: string;
}

/** A recipient of the sent email. */
export interface ReportedDelivery {
  /** `local@domain`. */
  readonly address: string;
  readonly state: DeliveryState;
  readonly ordinal: number;
}

export interface MatchedReport {
  readonly delivery: ReportedDelivery;
  readonly recipient: BounceRecipient;
  readonly outcome: ReportOutcome;
}

/**
 * The form in which addresses are compared, as receiving hosts compare them: without case. ASCII letters only, like
 * `lower(… collate "C")`, so that program and database agree.
 */
export function deliveryAddressKey(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The message did not arrive and will not; it is never retried automatically. */
export const BOUNCE_OUTCOMES: readonly ReportOutcome[] = ['bounced_hard', 'bounced_soft', 'blocked'];

export function isFinalFailure(outcome: ReportOutcome): boolean {
  return BOUNCE_OUTCOMES.includes(outcome);
}

/** The content of a report, and its senders. */
export type SentReport = Pick<Bounce, 'kind' | 'format' | 'recipients'> & {
  /** `local@domain` of From and Sender. */
  readonly sentBy: readonly string[];
};

/**
 * Assigns the contents of a report to the recipients of the email whose Message-ID it names. A report that names no
 * recipient (a complaint with the recipient removed, RFC 6590; a form that can't be read) counts only for an email with a
 * single recipient. An address that is not among the email's recipients, such as the one a recipient forwards to, is left
 * out unless Original-Recipient ties it to one that is. A free-form message from a recipient of the email is an
 * answer to it, and says nothing about its delivery.
 */
export function matchReport(
  { kind, format, recipients, sentBy }: SentReport,
  deliveries: readonly ReportedDelivery[],
): readonly MatchedReport[] {
  const senders = new Set(sentBy.map(deliveryAddressKey));
  const isAnswer = deliveries.some(({ address }) => senders.has(deliveryAddressKey(address)));
  if (format === 'free_form' && isAnswer) return [];
  const [only] = deliveries;
  const [recipient] = recipients;
  if (deliveries.length === 1 && recipients.length === 1 && only !== undefined && recipient !== undefined) {
    if (recipient.address === '' || (kind === 'complaint' && isRedacted(recipient.address, only.address))) {
      return [{ delivery: only, recipient, outcome: outcomeOf(kind, recipient) }];
    }
  }
  const byAddress = new Map(deliveries.map((one) => [deliveryAddressKey(one.address), one]));
  const matched = new Map<number, MatchedReport>();
  for (const recipient of recipients) {
    const delivery =
      byAddress.get(deliveryAddressKey(recipient.address)) ??
      byAddress.get(deliveryAddressKey(recipient.finalAddress ?? ''));
    if (delivery === undefined) continue;
    const outcome = outcomeOf(kind, recipient);
    const known = matched.get(delivery.ordinal);
    if (known === undefined || rankOf(outcome) > rankOf(known.outcome)) {
      matched.set(delivery.ordinal, { delivery, recipient, outcome });
    }
  }
  return [...matched.values()];
}

/** RFC 6590: the local part is replaced; the domain stays. */
function isRedacted(named: string, address: string): boolean {
  const domain = (text: string) => deliveryAddressKey(text.slice(text.lastIndexOf('@') + 1));
  return domain(named) === domain(address);
}

const rankOf = (outcome: ReportOutcome) => REPORT_OUTCOMES.indexOf(outcome);

const FAILED = { hard: 'bounced_hard', soft: 'bounced_soft', blocked: 'blocked' } as const;

function outcomeOf(kind: Bounce['kind'], { action, severity }: BounceRecipient): ReportOutcome {
  if (kind === 'complaint') return 'complained';
  return action === 'failed' ? FAILED[severity ?? 'soft'] : action;
}
