/** The fields of a message as a person writes them, and as a draft has them. */
import type { Body } from './body.ts';
import type { Fields } from './draft-keeper.ts';
import { isWhole, readAddress } from './senders.ts';

export interface WriterFields extends Body {
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  /** Absent: the account that answers, or the default. */
  readonly account_id?: string;
  /** The chosen sender, which may be unfinished; null: the one that the service uses. */
  readonly from: string | null;
  /** The name that a program gave its draft, in place of that of the sender; null: none. */
  readonly from_name: string | null;
  readonly signature: boolean;
}

/** `refused`: the account does not send as this address. */
export type SenderProblem = 'unfinished' | 'refused';

/**
 * Without text there is no HTML either. An unfinished sender, which the service would refuse, is none yet; the one that was chosen before it
 * may be of another account.
 */
export const toMessage = ({ from, ...fields }: Partial<WriterFields>): Fields => ({
  ...fields,
  ...(fields.html_body === '' ? { html_body: null } : {}),
  ...(from === undefined ? {} : { from: isUnfinished(from) ? null : from }),
});

/**
 * The message of a draft whose send was undone: with what a program gave it besides the fields of the page, and without the time of sending.
 *
 * @param before of the draft as the page found it
 */
export const takenBack = (before: Fields | undefined, fields: WriterFields): Fields => ({
  ...before,
  ...toMessage(fields),
  send_at: null,
});

export const isUnfinished = (from: string | null): boolean =>
  from !== null && !isWhole(readAddress(from).address);

/** The values that the service gave an answer before a person wrote; empty fields are left out. */
export const givenBy = ({ to, cc, subject }: WriterFields): Fields =>
  Object.fromEntries(Object.entries({ to, cc, subject }).filter(([, value]) => value !== ''));
