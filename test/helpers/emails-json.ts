/** Emails as the database gives them to the API, both ways. */
import { toEmailJson } from '../../src/adapters/http/email-view.ts';
import type { EmailJson } from '../../src/adapters/http/schemas.ts';
import type { EmailsJson, EmailSummary } from '../../src/app/ports.ts';

export function toEmailsJson(emails: readonly EmailSummary[]): EmailsJson {
  return { kind: 'whole', json: emails.map((email) => JSON.stringify(toEmailJson(email))).join() };
}

/** The JSON of all, whatever way it comes. */
export async function readEmailsJson(emails: EmailsJson): Promise<string> {
  if (emails.kind === 'whole') return emails.json;
  let json = '';
  for await (const piece of emails.pieces) json += piece;
  return json;
}

export async function parseEmailsJson(emails: EmailsJson | null): Promise<readonly EmailJson[]> {
  return emails === null ? [] : (JSON.parse(`[${await readEmailsJson(emails)}]`) as EmailJson[]);
}
