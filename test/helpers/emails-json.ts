/** Emails as the database gives them to the API, in both forms. */
import { toEmailJson } from '../../src/areas/emails/email-view.ts';
import type { EmailJson } from '../../src/platform/schemas/schemas.ts';
import type { EmailListingJson } from '../../src/areas/emails/email-schemas.ts';
import type { EmailDetail, EmailSummary } from '../../src/areas/emails/email-ports.ts';
import type { EmailsJson } from '../../src/platform/db/emails-json.ts';

export function toEmailsJson(emails: readonly EmailSummary[]): EmailsJson {
  return { kind: 'whole', json: emails.map((email) => JSON.stringify(toEmailJson(email))).join() };
}

/** The fields of an email in lists over all threads. */
export type ListedEmail = EmailSummary &
  Pick<
    EmailDetail,
    | 'state'
    | 'stateDetail'
    | 'nextAttemptAt'
    | 'threadId'
    | 'accountId'
    | 'authentication'
    | 'tags'
    | 'metadata'
    | 'listId'
    | 'author'
  >;

export function toListingJson(email: ListedEmail): EmailListingJson {
  return {
    ...toEmailJson(email),
    state: email.state,
    state_detail: email.stateDetail,
    next_attempt_at: email.nextAttemptAt?.toISOString() ?? null,
    thread_id: email.threadId,
    account_id: email.accountId,
    authentication: email.authentication === null ? null : { verdict: email.authentication.verdict },
    tags: [...email.tags],
    metadata: { ...email.metadata },
    list_id: email.listId,
    author: email.author === null ? null : { ...email.author },
  };
}

/** The JSON of all emails, in whichever form it comes. */
export async function readEmailsJson(emails: EmailsJson): Promise<string> {
  if (emails.kind === 'whole') return emails.json.toString();
  let json = '';
  for await (const piece of emails.pieces) json += piece;
  return json;
}

export async function parseEmailsJson(emails: EmailsJson | null): Promise<readonly EmailJson[]> {
  return emails === null ? [] : (JSON.parse(`[${await readEmailsJson(emails)}]`) as EmailJson[]);
}
