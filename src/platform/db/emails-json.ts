/** Lists of emails that the database turns into JSON. */

/**
 * Emails as the API shows them (`toEmailJson`), in JSON with commas between them: the database makes it, and it is passed
 * on unchanged. A result too large for memory comes in pieces, cut anywhere; each is read when it is requested, and
 * reading may fail between two of them. An email that exists all the while appears in them once.
 */
export type EmailsJson =
  /** Bytes are UTF-8. */
  | { readonly kind: 'whole'; readonly json: string | Buffer }
  | { readonly kind: 'pieces'; readonly pieces: AsyncIterable<string> };

export interface EmailsPage {
  readonly emails: EmailsJson;
  /** null on the last page. */
  readonly nextCursor: string | null;
}
