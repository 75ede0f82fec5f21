/** The name of a right in the API. */
import { RIGHTS } from '../../../core/keys/rights.ts';

export const RightName = {
  title: 'Right',
  $comment:
    'Rights of a key. `read`: read emails, threads, customers, events and lists. `draft`: write drafts. `send`: send emails, ' +
    'cancel sends and retry them. `receive`: submit received mail. `operate`: change threads, customers, suppressed addresses ' +
    'and unresolved sends. `admin`: everything. Apart from `admin`, no right includes another.',
  type: 'string',
  enum: RIGHTS,
} as const;
