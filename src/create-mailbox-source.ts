/** A part of the composition root: the mailboxes that are read. */
import { createImapSource } from './adapters/imap/mailbox-source.ts';
import { parseImapUrl, type ImapOptions } from './adapters/imap/imap-url.ts';
import type { MailboxSource } from './app/mailbox-ports.ts';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';

/** Connects to nobody yet. Throws ConfigError. */
export function createMailboxSource(config: Pick<Config, 'accounts'>): MailboxSource {
  return createImapSource(
    config.accounts.flatMap(({ id, imap }) =>
      imap === null ? [] : [{ ...readImapUrl(id, imap.url), id, sentPath: imap.sentPath }],
    ),
  );
}

function readImapUrl(accountId: string, imapUrl: string): ImapOptions {
  try {
    return parseImapUrl(imapUrl, false);
  } catch (error) {
    throw new ConfigError(
      `IMAP_URL of account ${accountId}`,
      error instanceof Error ? error.message : String(error),
    );
  }
}
