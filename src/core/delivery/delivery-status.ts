/**
 * The fields of a delivery report (RFC 3464 §2) and of a feedback report (RFC 5965), read liberally: programs forget the
 * empty lines between recipients or add some, leave diagnostics unfolded, and misspell names and types. Only the text of
 * a recipient field is read as a recipient.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { decodeUtf8 } from '../mime/text/charset.ts';
import { fieldValue, type HeaderField } from '../mime/parse/header-fields.ts';
import { classifyFailure, findStatus, type BounceAction, type BounceRecipient } from './bounce-recipient.ts';
import { trimEnd } from '../trim-ends.ts';
import { cleanReplyText } from './reply.ts';

/** The fields of RFC 3464 §2.3 about one recipient, in any order. */
const FINAL = 'final-recipient';
const ORIGINAL = 'original-recipient';
const ACTION = 'action';
const STATUS = 'status';
const DIAGNOSTIC = 'diagnostic-code';

/** Fields with the outcome; an empty line may precede them. */
const OUTCOME_FIELDS: readonly string[] = [ACTION, STATUS, DIAGNOSTIC];

/** Field names of RFC 3464: no continuation line of a diagnostic begins with one. */
const KNOWN_NAMES =
  /^(?:(?:final|original)-recipient|action|status|diagnostic-code|remote-mta|reporting-mta|received-from-mta|dsn-gateway|arrival-date|last-attempt-date|final-log-id|will-retry-until|original-envelope-id|x-[a-z0-9-]+)$/;

/** Lines are read this far; a diagnostic is cut at 1,000 characters anyway. */
const MAX_LINE_CHARS = 4000;

/** Longer than any name of a field. */
const MAX_NAME_CHARS = 60;

/** Fields without an empty line between them. */
type FieldBlock = readonly HeaderField[];

/** Seen in practice: CR alone, and CR CR LF. In two steps, since `\r*\n|\r` goes through a run of CRs from each of them. */
function linesOf(text: string): readonly string[] {
  const isCr = (character: string): boolean => character === '\r';
  return text.split('\n').flatMap((line) => trimEnd(line, isCr).split('\r'));
}

/** The blocks of a report, in their order; none of them is empty. */
function readFieldBlocks(bytes: Buffer): readonly FieldBlock[] {
  const blocks: RawField[][] = [[]];
  /** The field that the next line may continue. */
  let last: RawField | null = null;
  for (const whole of linesOf(decodeUtf8(bytes) ?? bytes.toString('latin1'))) {
    const line = whole.slice(0, MAX_LINE_CHARS);
    const block = blocks.at(-1) ?? [];
    if (line.trim() === '') {
      last = null;
      if (block.length > 0) blocks.push([]);
      continue;
    }
    const name = nameIn(line);
    // Seen in practice: the lines of a reply one below the other, without the white space that would continue the field.
    const isReply = last?.name === DIAGNOSTIC && !KNOWN_NAMES.test(name ?? '');
    if (/^[ \t]/.test(line) || isReply) {
      last?.lines.push(line);
    } else {
      // After a field of another kind such a line is ignored, and so are its continuation lines: they name no recipient.
      last = name === null ? null : { name, lines: [line.slice(line.indexOf(':') + 1)] };
      if (last !== null) block.push(last);
    }
  }
  return blocks.filter((block) => block.length > 0).map((block) => block.map(toField));
}

interface RawField {
  readonly name: string;
  readonly lines: string[];
}

/** The name of a field that begins on this line, with `-` for `_` and spaces; null when none begins. */
function nameIn(line: string): string | null {
  const colon = line.indexOf(':');
  if (colon === -1 || colon > MAX_NAME_CHARS) return null;
  const name = line.slice(0, colon).trimEnd();
  return /^[a-z][a-z0-9_ -]*$/i.test(name) ? name.toLowerCase().replace(/[_ ]+/g, '-') : null;
}

function toField({ name, lines }: RawField): HeaderField {
  const value = lines.map((line) => line.trim()).join(' ');
  return { name, value: value.replace(/[\u0000-\u001f\u007f]/g, ' ').trim() };
}

/** All fields of a report. */
export function readReportFields(bytes: Buffer): readonly HeaderField[] {
  return readFieldBlocks(bytes).flat();
}

/** The recipients of a `message/delivery-status`, in order. */
export function readDeliveryStatus(bytes: Buffer): readonly BounceRecipient[] {
  return readRecipientGroups(bytes).flatMap((fields) => {
    const final = reportedAddress(fieldValue(fields, FINAL));
    const address = reportedAddress(fieldValue(fields, ORIGINAL)) ?? final;
    return address === null ? [] : [toRecipient(address, final, fields)];
  });
}

/**
 * RFC 3464 §2.3.1: `rfc822; user@example.com`; RFC 6533 §3: `utf-8; \\x{FC}ser@example.com`. Seen in practice: `rfc/822`,
 * no type, angle brackets. null for none.
 */
export function reportedAddress(value: string | null): string | null {
  const text = (value ?? '')
    .replace(/^\s*[\w./-]+\s*;/, '')
    .replace(/\\x\{([0-9a-f]{1,6})\}/gi, (escape, hex: string) => {
      const point = Number.parseInt(hex, 16);
      return point > 0x10ffff ? escape : String.fromCodePoint(point);
    });
  const [address] = parseLenientAddressList(text, 1).addresses;
  return address === undefined || address.domain === '' ? null : addrSpec(address);
}

/** RFC 3464 §2.1: the fields of each recipient. The first block is about the message, unless it names a recipient. */
function readRecipientGroups(bytes: Buffer): readonly (readonly HeaderField[])[] {
  const groups: HeaderField[][] = [];
  for (const block of readFieldBlocks(bytes)) {
    for (const group of splitBlock(block)) {
      const before = groups.at(-1);
      if (namesRecipient(group)) groups.push([...group]);
      // Seen in practice: an empty line between the recipient and the outcome.
      else if (before !== undefined) addMissing(before, group);
    }
  }
  return groups;
}

/** Seen in practice: no empty line between recipients. A field that comes again is about the next one. */
function splitBlock(block: FieldBlock): readonly (readonly HeaderField[])[] {
  const groups: HeaderField[][] = [[]];
  for (const [at, field] of block.entries()) {
    const group = groups.at(-1) ?? [];
    const has = (name: string) => group.some((one) => one.name === name);
    const isNext =
      ((field.name === FINAL || field.name === ORIGINAL || field.name === ACTION) && has(field.name)) ||
      // Original-Recipient of the next recipient; the current one has none.
      (field.name === ORIGINAL && has(FINAL) && OUTCOME_FIELDS.some(has) && block[at + 1]?.name === FINAL);
    if (isNext) groups.push([field]);
    else group.push(field);
  }
  return groups;
}

function namesRecipient(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name }) => name === FINAL || name === ORIGINAL);
}

function addMissing(group: HeaderField[], fields: readonly HeaderField[]): void {
  for (const field of fields) {
    const isOutcome = OUTCOME_FIELDS.includes(field.name);
    if (isOutcome && !group.some(({ name }) => name === field.name)) group.push(field);
  }
}

function toRecipient(address: string, final: string | null, fields: readonly HeaderField[]): BounceRecipient {
  // RFC 3464 §2.3.6: `smtp; 550 5.1.1 …`.
  const text = (fieldValue(fields, DIAGNOSTIC) ?? '').replace(/^[\w./-]+\s*;\s*/, '');
  const diagnostic = cleanReplyText(text.replace(/\s+/g, ' '));
  // RFC 3463 §2 allows no white space within the status; comments may follow it.
  const given = (fieldValue(fields, STATUS) ?? '').replace(/(?<=\d)\s*\.\s*(?=\d)/g, '.');
  const named = actionOf(fieldValue(fields, ACTION) ?? '');
  const action = named ?? (findStatus(given)?.startsWith('4') === true ? 'delayed' : 'failed');
  const status = tellingStatus(findStatus(given, action), diagnostic, action);
  return {
    address,
    finalAddress: final === address ? null : final,
    action,
    severity: classifyFailure(action, status, diagnostic),
    status,
    diagnostic,
  };
}

/** The most specific status. Seen in practice: `5.0.0` beside a diagnostic that is more specific. */
export function tellingStatus(given: string | null, diagnostic: string, action: BounceAction): string | null {
  return given === null || given.endsWith('.0.0') ? (findStatus(diagnostic, action) ?? given) : given;
}

/** Seen in practice: no action at all, and words other than those of RFC 3464 §2.3.3. */
const ACTION_WORDS: readonly (readonly [RegExp, BounceAction])[] = [
  [/fail|expired|undeliver|bounce|reject/, 'failed'],
  [/delay|defer/, 'delayed'],
  [/deliver|success/, 'delivered'],
  [/relay/, 'relayed'],
  [/expand/, 'expanded'],
];

/** null when the field contains no known word. */
function actionOf(text: string): BounceAction | null {
  const word = text.toLowerCase();
  return ACTION_WORDS.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}
