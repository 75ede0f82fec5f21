/**
 * Automatic mail, which must not be answered by another machine: RFC 3834, RFC 2919 (List-Id), RFC 2369 (List-*),
 * RFC 3464 (reports), and fields that programs added before or beside these.
 */
import { fieldValue } from '../mime/header-fields.ts';
import type { HeaderField } from '../mime/header-fields.ts';
import type { ParsedMessage } from '../mime/parsed-message.ts';
import { readParameters } from '../mime/read-parameters.ts';

/**
 * - `bounce`: a report of delivery, non-delivery, reading or abuse.
 * - `auto_reply`: an answer of a program, such as an out-of-office note.
 * - `list`: from a mailing list or a newsletter.
 * - `bulk`: sent to many.
 * - `auto_generated`: any other message that no person wrote.
 */
export const AUTOMATIC_KINDS = ['bounce', 'auto_reply', 'list', 'bulk', 'auto_generated'] as const;
export type AutomaticKind = (typeof AUTOMATIC_KINDS)[number];

export interface AutomaticMail {
  readonly kind: AutomaticKind;
  /** What told it, for example `auto-submitted: auto-replied`; at most 200 characters. */
  readonly evidence: string;
  /** The sender asked for no automatic answers at all; true for most kinds. */
  readonly suppressReplies: boolean;
}

interface Rule {
  readonly kind: AutomaticKind;
  readonly field: string;
  /** Against the value, in lower case. */
  readonly pattern: RegExp;
}

/** The first that fits decides. */
const RULES: readonly Rule[] = [
  // RFC 3834 §5; its first word decides, parameters follow.
  { kind: 'auto_reply', field: 'auto-submitted', pattern: /^auto-(?:replied|notified)/ },
  // Seen in practice: Exchange, cPanel, Horde, old vacation programs, Zendesk, Freshdesk.
  { kind: 'auto_reply', field: 'x-autoreply', pattern: /^(?!no\b)./ },
  { kind: 'auto_reply', field: 'x-autorespond', pattern: /^(?!no\b)/ },
  { kind: 'auto_reply', field: 'x-autoresponder', pattern: /^(?!no\b)./ },
  { kind: 'auto_reply', field: 'x-mail-autoreply', pattern: /./ },
  { kind: 'auto_reply', field: 'x-ms-exchange-inbox-rules-loop', pattern: /./ },
  { kind: 'auto_reply', field: 'precedence', pattern: /^auto[_-]reply/ },
  { kind: 'auto_reply', field: 'x-precedence', pattern: /^auto[_-]reply/ },
  { kind: 'list', field: 'list-id', pattern: /./ },
  { kind: 'list', field: 'list-post', pattern: /./ },
  { kind: 'list', field: 'precedence', pattern: /^list\b/ },
  { kind: 'list', field: 'list-unsubscribe', pattern: /./ },
  { kind: 'bulk', field: 'precedence', pattern: /^(?:bulk|junk)\b/ },
  { kind: 'bulk', field: 'x-precedence', pattern: /^(?:bulk|junk|list)\b/ },
  { kind: 'bulk', field: 'feedback-id', pattern: /./ },
];

/** Asked after the subject: Exchange calls its out-of-office notes auto-generated. */
const LAST_RULES: readonly Rule[] = [
  // RFC 3834 §5: every value but "no" says that no person sent it.
  { kind: 'auto_generated', field: 'auto-submitted', pattern: /^(?!no\b)./ },
  {
    kind: 'auto_generated',
    field: 'x-auto-response-suppress',
    pattern: /\b(?:all|oof|autoreply|dr|rn|nrn)\b/,
  },
  { kind: 'auto_generated', field: 'x-loop', pattern: /./ },
];

/** Local parts of programs. RFC 5321 §4.5.5, RFC 2142; others seen in practice. */
const ROBOTS =
  /^(?:mailer-daemon|mail-daemon|mail[._]delivery[._]system|post_?master|no-?reply|do-?not-?reply|noreply[-+_.].*|bounces?(?:[-+].*)?)$/i;

/** Subjects of answers by programs that say so nowhere else. Seen in practice. */
const AUTO_REPLY_SUBJECT =
  /^(?:auto(?:matic|mated)? ?-?re(?:ply|sponse)|automatische antwort|abwesenheits(?:notiz|meldung|assistent)|abwesend|out of (?:the )?office|réponse automatique|absence du bureau|respuesta automática|risposta automatica|resposta automática|automatisch antwoord|automatiskt svar|automaattinen vastaus|odpowiedź automatyczna|автоответ)\b/iu;

/** Subjects of notices about mail that was not delivered. Seen in practice, from postmasters and null senders. */
const BOUNCE_SUBJECT =
  /\b(?:undeliver(?:able|ed)|non-?deliver\w*|returned mail|mail (?:delivery|system error)|deliver(?:y|ed) (?:status|has failed|fail\w*|notification|report|problem|error|of your message)|failure notice|mail failure|message (?:delivery|not delivered|could not be delivered)|could not be delivered|unzustellbar\w*|nicht zugestellt|zustell(?:fehler|bericht)\w*|zustellung (?:fehlgeschlagen|nicht|verzögert)|non remis\w*|non distribu\w*|échec (?:de )?(?:la )?(?:remise|distribution)|no se (?:ha )?(?:pudo )?entreg\w*|mancato recapito|onbestelbaar)\b|メールエラー|配信不能|配信できません|недоставлен|退信|无法投递/iu;

/** Whether a program that writes this reports that mail was not delivered. */
export function isBounceSubject(subject: string): boolean {
  return BOUNCE_SUBJECT.test(subject);
}

/** Who writes such notices, but also answers as a person: an answer to a notice is none. */
const POSTMASTER = /^(?:post_?master|mail[._]delivery[._]system)$/i;

export interface AutomaticContext {
  /**
   * The sender of the envelope where the message came by SMTP or LMTP: null for `<>`. undefined when nobody knows,
   * as by IMAP; then Return-Path tells.
   */
  readonly mailFrom?: string | null;
}

/** null for what a person seems to have written. */
export function classifyAutomatic(
  message: Pick<ParsedMessage, 'fields' | 'contentType' | 'from' | 'subject'>,
  context: AutomaticContext = {},
): AutomaticMail | null {
  const { fields, subject } = message;
  const found = (kind: AutomaticKind, evidence: string): AutomaticMail => ({
    kind,
    evidence: evidence.slice(0, 200).toWellFormed(),
    suppressReplies: kind !== 'auto_generated' || !isReplyWanted(fields),
  });
  if (message.contentType === 'multipart/report') return found('bounce', 'content-type: multipart/report');
  const isNullSender = hasNullSender(fields, context);
  const robot = message.from.find(({ localPart }) => ROBOTS.test(localPart))?.localPart ?? null;
  if (fieldValue(fields, 'x-failed-recipients') !== null) return found('bounce', 'x-failed-recipients');
  if (robot !== null && /^(?:mailer-daemon|mail-daemon)$/i.test(robot))
    return found('bounce', `from: ${robot}`);
  // Seen in practice: acknowledgements come from no-reply addresses with the null sender.
  if (isNullSender && robot !== null && !/^(?:no-?reply|do-?not)/i.test(robot)) {
    return found('bounce', `null sender, from: ${robot}`);
  }
  const isPostmaster = robot !== null && POSTMASTER.test(robot) && !/^(?:re|aw|fwd?|wg) ?:/i.test(subject);
  if ((isNullSender || isPostmaster) && isBounceSubject(subject)) {
    return found('bounce', `subject: ${subject}`);
  }

  const byRule = firstRule(RULES, fields);
  if (byRule !== null) return found(...byRule);
  if (AUTO_REPLY_SUBJECT.test(message.subject)) return found('auto_reply', `subject: ${message.subject}`);
  const byLastRule = firstRule(LAST_RULES, fields);
  if (byLastRule !== null) return found(...byLastRule);
  // RFC 5321 §4.5.5: the null sender is for notices that must not be answered.
  if (isNullSender) return found('auto_reply', 'null sender');
  return robot === null ? null : found('auto_generated', `from: ${robot}`);
}

function firstRule(
  rules: readonly Rule[],
  fields: readonly HeaderField[],
): readonly [kind: AutomaticKind, evidence: string] | null {
  for (const { kind, field, pattern } of rules) {
    const value = fieldValue(fields, field)?.toLowerCase();
    if (value !== undefined && pattern.test(value)) return [kind, `${field}: ${value}`];
  }
  return null;
}

function hasNullSender(fields: readonly HeaderField[], context: AutomaticContext): boolean {
  if (context.mailFrom !== undefined) return context.mailFrom === null;
  return /^<\s*>/.test(fieldValue(fields, 'return-path') ?? '');
}

/** A program's message that people answer, such as a web form, forbids nothing and has a Reply-To. */
function isReplyWanted(fields: readonly HeaderField[]): boolean {
  const submitted = fieldValue(fields, 'auto-submitted');
  const forbids =
    (submitted !== null && readParameters(submitted).value !== 'no') ||
    fieldValue(fields, 'x-auto-response-suppress') !== null;
  return !forbids && fieldValue(fields, 'reply-to') !== null;
}
