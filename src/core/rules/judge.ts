/**
 * Which rules match a received email. What is not known of the email (a header that could not be read, a text beyond the part that is
 * looked at) matches no condition: the email is then handled as without the rule, and stays where people see it.
 */
import type { Writer } from '../delivery/writer.ts';
import { matchesAddress } from '../address/address-pattern.ts';
import type { AuthVerdict } from '../message/authentication.ts';
import type { HeaderField } from '../mime/parse/header-fields.ts';
import type { Condition, HeaderCondition, Rule, RuleTest } from './rule.ts';

/** What is known of an email. Addresses are in lower case. */
export interface RuleFacts {
  readonly accountId: string;
  /** It was imported, or in its mailbox before the first reading. */
  readonly isHistorical: boolean;
  readonly from: string;
  readonly recipients: readonly string[];
  /** Encoded words are decoded. Empty unless `needs` asks for it. */
  readonly fields: readonly HeaderField[];
  readonly subject: string;
  /** Its beginning. Empty unless `needs` asks for it. */
  readonly text: string;
  readonly sizeBytes: number;
  readonly attachments: readonly { readonly filename: string; readonly contentType: string }[];
  readonly verdict: AuthVerdict;
  readonly writtenBy: Writer;
  readonly isKnownCustomer: boolean;
}

/** Parts of an email that are read only where a rule asks for them. */
export interface RuleNeeds {
  readonly text: boolean;
  readonly fields: boolean;
}

export function needsOf(rules: readonly RuleTest[]): RuleNeeds {
  const conditions = rules.flatMap((rule) => rule.conditions);
  return {
    text: conditions.some(({ text }) => text !== undefined),
    fields: conditions.some(({ header }) => header !== undefined),
  };
}

/** The rules that match, in their order, up to the first that stops. */
export function matchingRules(rules: readonly Rule[], facts: RuleFacts): readonly Rule[] {
  const judge = judgeOf(facts);
  const matching: Rule[] = [];
  for (const rule of rules) {
    if (!rule.active || (facts.isHistorical && !rule.historical) || !judge(rule)) continue;
    matching.push(rule);
    if (rule.stop) break;
  }
  return matching;
}

/** Returns the judgement of tests of one email, whose texts are folded once. */
export function judgeOf(facts: RuleFacts): (test: RuleTest) => boolean {
  let text: string | null = null;
  let filenames: readonly string[] | null = null;
  const values = new Map<HeaderField, string>();
  const subject = fold(facts.subject);
  const holds = (condition: Condition): boolean => {
    const answers = [
      ifGiven(condition.sender, (pattern) => matchesAddress(fold(pattern), facts.from)),
      ifGiven(condition.recipient, (pattern) =>
        facts.recipients.some((address) => matchesAddress(fold(pattern), address)),
      ),
      ifGiven(condition.header, (header) => hasField(facts.fields, header, values)),
      ifGiven(condition.subject, (sought) => subject.includes(fold(sought))),
      ifGiven(condition.text, (sought) => (text ??= fold(facts.text)).includes(fold(sought))),
      ifGiven(condition.minSizeBytes, (size) => facts.sizeBytes >= size),
      ifGiven(condition.maxSizeBytes, (size) => facts.sizeBytes <= size),
      ifGiven(condition.hasAttachment, (wanted) => facts.attachments.length > 0 === wanted),
      ifGiven(condition.attachmentName, (sought) =>
        contains((filenames ??= facts.attachments.map(({ filename }) => fold(filename))), fold(sought)),
      ),
      ifGiven(condition.attachmentType, (sought) =>
        facts.attachments.some(({ contentType }) => isOfType(contentType, sought)),
      ),
      ifGiven(condition.verdict, (verdict) => facts.verdict === verdict),
      ifGiven(condition.writtenBy, (writer) => facts.writtenBy === writer),
      ifGiven(condition.knownCustomer, (wanted) => facts.isKnownCustomer === wanted),
      ifGiven(condition.accountId, (accountId) => facts.accountId === accountId),
    ].filter((answer) => answer !== null);
    // A condition of a later version, which this process does not know, matches nothing.
    return answers.length > 0 && answers.every(Boolean);
  };
  return ({ accounts, match, conditions }) =>
    (accounts === null || accounts.includes(facts.accountId)) &&
    (match === 'all' ? conditions.length > 0 && conditions.every(holds) : conditions.some(holds));
}

const ifGiven = <T>(value: T | undefined, holds: (value: T) => boolean): boolean | null =>
  value === undefined ? null : holds(value);

const contains = (texts: readonly string[], part: string): boolean =>
  texts.some((text) => text.includes(part));

/** @param values folded values that are known already */
function hasField(
  fields: readonly HeaderField[],
  { name, equals, contains: part }: HeaderCondition,
  values: Map<HeaderField, string>,
): boolean {
  const wanted = { name: name.toLowerCase(), equals: equals && fold(equals), part: part && fold(part) };
  return fields.some((field) => {
    if (field.name !== wanted.name) return false;
    const value = values.get(field) ?? fold(field.value);
    values.set(field, value);
    return (
      (wanted.equals === undefined || value === wanted.equals) &&
      (wanted.part === undefined || value.includes(wanted.part))
    );
  });
}

function isOfType(contentType: string, sought: string): boolean {
  const [type = '', wanted] = [contentType, sought].map((one) => one.toLowerCase());
  return wanted?.endsWith('/*') === true ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** Equal for texts that people take for the same: letter case, composed characters and white space make no difference. */
const fold = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
