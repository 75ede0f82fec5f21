/** A part of the composition root: the mailboxes that are read. */
import { createImapSource } from '../adapters/imap/mailbox-source.ts';
import { parseImapUrl, type ImapOptions } from '../adapters/imap/imap-url.ts';
import type { MailboxSource } from '../app/mailboxes/mailbox-ports.ts';
import type { SentMailboxes } from '../app/sent-copies/sent-copy-ports.ts';
import type { AccessTokens } from '../app/accounts/token-ports.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';

/**
 * Does not connect yet. Throws ConfigError.
 *
 * @param tokens for the accounts whose URL has no password
 */
export function createMailboxSource(
  config: Pick<Config, 'accounts'>,
  tokens: AccessTokens,
): MailboxSource & SentMailboxes {
  return createImapSource(
    config.accounts.flatMap((account) => {
      const { id, imap } = account;
      return imap === null ? [] : [{ ...readImapUrl(account, imap.url), id, sentPath: imap.sentPath }];
    }),
    tokens,
  );
}

export function readImapUrl({ id, oauth2 }: AccountConfig, imapUrl: string): ImapOptions {
  try {
    return parseImapUrl(imapUrl, oauth2 !== null);
  } catch (error) {
    throw new ConfigError(
      `IMAP_URL of account ${id}`,
      error instanceof Error ? error.message : String(error),
    );
  }
}
