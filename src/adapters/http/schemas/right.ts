/** The name of a right in the API. */
import { RIGHTS } from '../../../core/keys/rights.ts';

export const RightName = {
  title: 'Right',
  $comment:
    'What a key may do. `read`: see emails, threads, customers, events and lists. `draft`: prepare what another sends. `send`: ' +
    'send, take a send back, try it again. `receive`: hand in received mail. `operate`: decide about threads, customers, suppressed ' +
    'addresses and unsettled sends. `admin`: everything. No other right includes another.',
  type: 'string',
  enum: RIGHTS,
} as const;
