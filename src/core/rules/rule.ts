/** Rules on received mail: their conditions, their actions and their limits. */
import type { Writer } from '../delivery/writer.ts';
import type { AuthVerdict } from '../message/authentication.ts';
import type { ThreadStatus } from '../thread/thread-work.ts';

/** All rules together: each received email is judged by all of them. */
export const MAX_RULES = 200;
/** Each is looked up by its name, so that their number costs nothing. */
export const MAX_BLOCKED_SENDERS = 10_000;
export const MAX_RULE_NAME_CHARS = 100;
export const MAX_CONDITIONS = 20;
/** Characters of a text that a condition looks for. */
export const MAX_SOUGHT_CHARS = 200;

/** A field of the header (RFC 5322 §2.2) as received, whoever wrote it. With neither `equals` nor `contains` it only has to be there. */
export interface HeaderCondition {
  /** In any letter case. */
  readonly name: string;
  readonly equals?: string;
  readonly contains?: string;
}

/** One of these. Texts are compared in any letter case. */
export interface Condition {
  /** An address, `*@domain`, or `*@*.domain` for what is below a domain. */
  readonly sender?: string;
  /** The same; one of To and Cc. */
  readonly recipient?: string;
  readonly header?: HeaderCondition;
  /** A part of the subject. */
  readonly subject?: string;
  /** A part of the text; white space counts as one space. */
  readonly text?: string;
  /** Of the whole message. */
  readonly minSizeBytes?: number;
  readonly maxSizeBytes?: number;
  readonly hasAttachment?: boolean;
  /** A part of the name of an attachment. */
  readonly attachmentName?: string;
  /** The MIME type of an attachment, or its part before the slash with `/*`. */
  readonly attachmentType?: string;
  readonly verdict?: AuthVerdict;
  readonly writtenBy?: Writer;
  readonly knownCustomer?: boolean;
  readonly accountId?: string;
}

export interface RuleActions {
  readonly addLabels?: readonly string[];
  /** The id of a key. */
  readonly assignee?: string;
  readonly status?: ThreadStatus;
  /** Only for a thread without a customer. */
  readonly customerId?: string;
}

/** What a rule decides by. */
export interface RuleTest {
  /** null: all accounts. */
  readonly accounts: readonly string[] | null;
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

export interface RuleSettings extends RuleTest {
  /** For people. */
  readonly name: string;
  readonly active: boolean;
  /** Also judges what was in a mailbox before its first reading, and imported mail. */
  readonly historical: boolean;
  readonly actions: RuleActions;
  /** No rule behind it judges an email that it matches. */
  readonly stop: boolean;
}

export interface Rule extends RuleSettings {
  readonly id: string;
}
