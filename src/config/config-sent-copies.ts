/** Reads whether an account's sent mail is put into its Sent mailbox. */
import { keepsCopies } from '../core/sent-copies/keeps-copies.ts';
import { ConfigError } from './config-error.ts';

export interface SentCopiesConfig {
  readonly areKept: boolean;
  /** The reason why no copies are kept although the account asks for them; null: nothing to report. */
  readonly note: string | null;
}

const NONE: SentCopiesConfig = { areKept: false, note: null };

/**
 * `off`, `auto` or `on`; null is `off`. With `auto`, no copies for mail servers that keep one by themselves.
 *
 * @param hasMailbox the account has an IMAP server
 */
export function readSentCopies(
  where: string,
  value: string | null,
  { smtpUrl, hasMailbox }: { readonly smtpUrl: string | null; readonly hasMailbox: boolean },
): SentCopiesConfig {
  if (value === null || value === 'off') return NONE;
  if (value !== 'auto' && value !== 'on') throw new ConfigError(where, 'must be off, auto or on');
  if (!hasMailbox) throw new ConfigError(where, 'has no effect without an IMAP server');
  const host = smtpUrl === null ? null : new URL(smtpUrl).hostname;
  if (value === 'auto' && host !== null && keepsCopies(host)) {
    return {
      areKept: false,
      note: `${host} puts sent mail into the Sent mailbox by itself, so no copy is stored; "on" stores one nevertheless`,
    };
  }
  return { areKept: true, note: null };
}
