/** A part of the composition root: the mailboxes that are read. */
import type { ImapAccount } from '../connectors/imap/mailbox-source.ts';
import { parseImapUrl, type ImapOptions } from '../connectors/imap/imap-url.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import { ConfigError } from '../config/config-error.ts';

/** Those with a mailbox to read. Throws ConfigError. */
export const imapAccounts = (accounts: readonly AccountConfig[]): readonly ImapAccount[] =>
  accounts.flatMap((account) => {
    const { id, imap } = account;
    return imap === null ? [] : [{ ...readImapUrl(account, imap.url), id, sentPath: imap.sentPath }];
  });

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
