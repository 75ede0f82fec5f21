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
  readonly signature: boolean;
}

/** `refused`: the account does not send as this address. */
export type SenderProblem = 'unfinished' | 'refused';

/** Without text there is no HTML either, and the service would refuse an unfinished sender. */
export const toMessage = ({ from, ...fields }: Partial<WriterFields>): Fields => ({
  ...fields,
  ...(fields.html_body === '' ? { html_body: null } : {}),
  ...(from === undefined || isUnfinished(from) ? {} : { from }),
});

export const isUnfinished = (from: string | null): boolean =>
  from !== null && !isWhole(readAddress(from).address);

/** The values that the service gave an answer before a person wrote; empty fields are left out. */
export const givenBy = ({ to, cc, subject }: WriterFields): Fields =>
  Object.fromEntries(Object.entries({ to, cc, subject }).filter(([, value]) => value !== ''));
