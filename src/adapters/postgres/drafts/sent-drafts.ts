/** What becomes of a draft when the key of its send is settled: parts of the statements that complete and release keys. */

/**
 * Common table expressions. A draft whose email the mail server refused is free again: it may be corrected, and is then another
 * send. Any other is gone.
 *
 * @param ended has the `email_id` of each send
 * @param isRefused an SQL condition on a row `e` of it
 */
export const settleDrafts = (ended: string, isRefused: string): string => `sent_drafts as (
    delete from drafts d using ${ended} e where d.sending_id = e.email_id and not (${isRefused})
  ), refused_drafts as (
    update drafts d set sending_id = null from ${ended} e where d.sending_id = e.email_id and (${isRefused})
  )`;

/** A common table expression: nothing was tried. */
export const freeDraft = (emailId: string): string =>
  `free_draft as (update drafts set sending_id = null where sending_id = ${emailId})`;
