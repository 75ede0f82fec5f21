/** Settles a draft when the key of its send is settled: parts of the statements that complete and release keys. */

/**
 * Common table expressions. A draft whose email the mail server refused is free again: it may be corrected, and is then another send. Any
 * other draft is deleted.
 *
 * @param ended has the `email_id` of each send
 * @param isRefused an SQL condition on a row `e` of `ended`
 */
export const settleDrafts = (ended: string, isRefused: string): string => `sent_drafts as (
    delete from drafts d using ${ended} e where d.sending_id = e.email_id and not (${isRefused})
  ), refused_drafts as (
    update drafts d set sending_id = null from ${ended} e where d.sending_id = e.email_id and (${isRefused})
  )`;

/** A common table expression that sets the draft free because nothing was tried. */
export const freeDraft = (emailId: string): string =>
  `free_draft as (update drafts set sending_id = null where sending_id = ${emailId})`;
