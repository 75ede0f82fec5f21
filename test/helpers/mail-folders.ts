/** Emails as files, and their state in a database. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { query } from './query.ts';

/** One email of a conversation, with LF; `position` counts from 0, and each email answers the previous one. */
export function mailOf(conversation: number, position: number, body = 'Hello'): string {
  const id = (at: number) => `<c${conversation}-${at}@mail.example.com>`;
  const earlier = Array.from({ length: position }, (_, at) => id(at));
  return [
    `Message-ID: ${id(position)}`,
    ...(position === 0 ? [] : [`In-Reply-To: ${id(position - 1)}`, `References: ${earlier.join(' ')}`]),
    `From: Ada ${conversation} <ada${conversation}@customer.example>`,
    'To: Sales <sales@example.com>',
    `Subject: ${position === 0 ? '' : 'Re: '}Conversation ${conversation}`,
    `Date: ${new Date(Date.UTC(2026, 0, 5, 10, position)).toUTCString().replace('GMT', '+0000')}`,
    '',
    body,
    '',
  ].join('\n');
}

export async function makeMaildir(folder: string): Promise<string> {
  for (const name of ['cur', 'new', 'tmp']) await mkdir(path.join(folder, name), { recursive: true });
  return folder;
}

export async function writeMails(folder: string, mails: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [index, mail] of mails.entries()) await writeFile(path.join(folder, `${index}.eml`), mail);
  return folder;
}

export interface RecordedMail {
  readonly message_id: string;
  readonly subject: string;
  readonly direction: string;
  readonly thread_id: string;
  readonly date: Date;
  readonly text_body: string;
  readonly defects: readonly string[];
}

export async function recordedMails(databaseUrl: string): Promise<RecordedMail[]> {
  const rows = await query(
    databaseUrl,
    'select message_id, subject, direction, thread_id, date, text_body, defects from emails order by message_id',
  );
  return rows as unknown as RecordedMail[];
}

/** Throws if a conversation of `mailOf` is in more than one thread, or two of them are in one. */
export function requireRightThreads(mails: readonly RecordedMail[]): void {
  const threadOf = new Map<string, string>();
  for (const { subject, thread_id } of mails) {
    const conversation = subject.replace(/^Re: /, '');
    if ((threadOf.get(conversation) ?? thread_id) !== thread_id)
      throw new Error(`two threads of ${conversation}`);
    threadOf.set(conversation, thread_id);
  }
  if (new Set(threadOf.values()).size !== threadOf.size)
    throw new Error('two conversations are in one thread');
}
