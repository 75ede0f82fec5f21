/** Helpers of the IMAP adapter's tests for its sessions. */
import { parseImapUrl } from '../../src/connectors/imap/imap-url.ts';
import { createImapSource } from '../../src/connectors/imap/mailbox-source.ts';
import type { FetchedMessage, MailboxError, MailboxSource } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { NO_TOKENS } from './no-tokens.ts';

/** A signal that never fires. */
export const NEVER = new AbortController().signal;

/** The mailboxes of one account, `a`, with a password in the URL. */
export function sourceOf(url: string, sentPath: string | null = null): MailboxSource {
  return createImapSource([{ ...parseImapUrl(url, false), id: 'a', sentPath }], NO_TOKENS);
}

export function failureOf(promise: Promise<unknown>): Promise<MailboxError> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as MailboxError,
  );
}

export async function readAll({ raw }: FetchedMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of raw) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const item of items) result.push(item);
  return result;
}
