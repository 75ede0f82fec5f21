/**
 * Reads mail from strangers apart from everything else: a mail that takes for ever, or all memory, must harm nothing but
 * itself. Requests and answers can be copied between processes.
 */
import type { Address } from '../../core/address/address.ts';
import type { AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { AutomaticContext, AutomaticMail } from '../../core/delivery/automatic.ts';
import type { Bounce } from '../../core/delivery/bounce.ts';
import type { ForwardHtml } from '../../core/html/without-active.ts';
import type { SafeHtml, SanitizeOptions } from '../../core/html/sanitize-html.ts';
import type { CaptureFacts } from '../../core/mailbox/capture.ts';
import type { MessageIdentity } from '../../core/message/identity.ts';
import type { CopyContent } from '../../core/message/copy-content.ts';
import type { EmailContents } from '../../core/message/same-email.ts';
import type { SentCandidate, SentContent } from '../../core/message/sent-copy.ts';
import type { HeaderField } from '../../core/mime/parse/header-fields.ts';
import type { ParsedMessage } from '../../core/mime/parse/parsed-message.ts';
import type { CheckedTemplate, FilledTemplate, TemplateContent } from '../../core/templates/template.ts';
import type { Content } from '../files/file-ports.ts';

export interface ReceivedMessage {
  readonly message: ParsedMessage;
  /** null: the whole text. */
  readonly replyText: string | null;
  readonly automatic: AutomaticMail | null;
  readonly bounce: Bounce | null;
  /** The statistics of another mail server in it; null: none. */
  readonly aggregate: AggregateReport | null;
  /** See forwardedAuthors. */
  readonly forwardedFrom: readonly Address[];
}

/** The contents of a header, without the body. */
export interface ReadHeader {
  /** null without a Message-ID or a Date: such a message is recognised only by its content. */
  readonly identity: MessageIdentity | null;
  /** Its Date, else that of Received; null when neither can be read. */
  readonly date: Date | null;
  /** What the capture rules of an account need; null when the header can't be read whole. */
  readonly facts: CaptureFacts | null;
}

/** All kinds of readings, with their requests and answers. */
export interface Readings {
  readonly message: {
    readonly asked: { readonly raw: Content; readonly context: AutomaticContext };
    readonly given: ReceivedMessage;
  };
  /** The contents of the beginning of a message, with its fields shortened; see shortenHeader. */
  readonly fields: { readonly asked: { readonly header: Buffer }; readonly given: ParsedMessage };
  /** All fields of the beginning of a message, with their encoded words decoded; see parseHeaderBlock. */
  readonly headerFields: {
    readonly asked: { readonly header: Buffer };
    readonly given: readonly HeaderField[];
  };
  readonly header: {
    readonly asked: { readonly header: Buffer; readonly isShortened: boolean };
    readonly given: ReadHeader;
  };
  /** Several at once, in their order; when one fails, all do. See readHeaders. */
  readonly headers: {
    readonly asked: { readonly headers: readonly Buffer[] };
    readonly given: readonly ReadHeader[];
  };
  readonly html: { readonly asked: { readonly html: string }; readonly given: string };
  /** See sanitizeHtml; null for HTML that can't be made safe within its limits. */
  readonly safeHtml: {
    readonly asked: { readonly html: string } & SanitizeOptions;
    readonly given: SafeHtml | null;
  };
  /** See withoutActive; null for HTML that can't be forwarded as it is. */
  readonly forwardHtml: { readonly asked: { readonly html: string }; readonly given: ForwardHtml | null };
  /** See checkTemplate. */
  readonly templateCheck: { readonly asked: TemplateContent; readonly given: CheckedTemplate };
  /** See fillTemplate. */
  readonly template: {
    readonly asked: { readonly content: TemplateContent; readonly variables: string };
    readonly given: FilledTemplate;
  };
  /** See isSameEmail. */
  readonly sameEmail: {
    readonly asked: readonly [EmailContents, EmailContents];
    readonly given: boolean;
  };
  /** See isRewrittenCopy. */
  readonly isCopy: {
    readonly asked: { readonly copy: CopyContent; readonly sent: SentContent };
    readonly given: boolean;
  };
  /** See chooseSent; the id of the sent email. */
  readonly choice: {
    readonly asked: { readonly copy: CopyContent; readonly candidates: readonly SentCandidate[] };
    readonly given: string | null;
  };
}

export type ReadingKind = keyof Readings;

/**
 * The reason why something could not be read: it took too much time, or too much memory, or the reader crashed. Another
 * try would end the same way.
 */
export const READ_FAILURES = ['deadline', 'memory', 'crash'] as const;
export type ReadFailure = (typeof READ_FAILURES)[number];

export type ReadResult<T> =
  | { readonly kind: 'read'; readonly value: T }
  /** `detail` is English, for the log. */
  | { readonly kind: 'failed'; readonly reason: ReadFailure; readonly detail: string };

/** Asks for what no key asks for: mail that arrives by itself, and what an operator imports. */
export const MAIL = 'mail';
/** Asks for what a secret of `API_SECRET` asks for. No id of a key equals it. */
const OPERATOR = 'operator';

/** The asker of a reading that a caller asks for. @param keyId absent or null: a secret */
export const askerOf = (keyId: string | null | undefined): string => keyId ?? OPERATOR;

export interface MessageReader {
  /**
   * Askers take turns, so that none waits for all that another one asked. Throws `ServiceError('reading_unavailable')` when nothing can be
   * read at the moment, whatever the request, and `rate_limited` when very many requests of the same key wait.
   *
   * @param asker MAIL, or see askerOf; default: MAIL
   */
  read<K extends ReadingKind>(
    kind: K,
    asked: Readings[K]['asked'],
    asker?: string,
  ): Promise<ReadResult<Readings[K]['given']>>;
}
