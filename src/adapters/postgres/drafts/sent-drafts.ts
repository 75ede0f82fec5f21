/** What becomes of a draft when the key of its send is settled: parts of the statements that complete and release keys. */

/**
 * Common table expressions. A draft whose email the mail server refused is free again: it may be corrected, and is then another
 * send. Any other is gone.
 *
 * @param emailId of the send, an SQL expression
 * @param isRefused an SQL condition
 */
export const settleDraft = (emailId: string, isRefused: string): string => `sent_draft as (
    delete from drafts where sending_id = ${emailId} and not (${isRefused})
  ), refused_draft as (
    update drafts set sending_id = null where sending_id = ${emailId} and (${isRefused})
  )`;

/** A common table expression: nothing was tried. */
export const freeDraft = (emailId: string): string =>
  `free_draft as (update drafts set sending_id = null where sending_id = ${emailId})`;
