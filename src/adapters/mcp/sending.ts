/** Shared by the tools that write and send mail. */

/** Limits of one email that a model writes: lower than those of the API for other callers. */
export const MAX_WRITTEN_BODY_CHARS = 100_000;
export const MAX_WRITTEN_RECIPIENTS_CHARS = 2000;
export const MAX_WRITTEN_SUBJECT_CHARS = 500;

export interface SendAnswer {
  readonly status: string;
  readonly id?: string;
  readonly threadId?: string;
  readonly messageId: string;
}

export const toOutcome = ({ status, id: emailId, threadId }: SendAnswer) => ({
  status,
  email_id: emailId ?? null,
  thread_id: threadId ?? null,
});
