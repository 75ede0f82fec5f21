/** Parts of a key in the API: its id, and the name of a right. */
import { KEY_ID_PATTERN } from '../../core/keys/api-key.ts';
import { RIGHTS } from '../../core/keys/rights.ts';

/** Not the whole key: the audit log names what an act was about, and threads to whom they are assigned. */
export const KeyId = {
  title: 'KeyId',
  $comment: 'Public identifier: the second part of the key. Not a secret.',
  type: 'string',
  pattern: KEY_ID_PATTERN,
} as const;

export const RightName = {
  title: 'Right',
  $comment:
    'Rights of a key. `read`: read emails, threads, customers, events and lists. `draft`: write drafts. `send`: send emails, ' +
    'cancel sends and retry them. `receive`: submit received mail. `handle`: mark threads as read and done, assign and label them, set ' +
    'their customer, settle what was not delivered. `operate`: also split, merge and delete threads, and decide about addresses of ' +
    'customers, suppressed addresses and unresolved sends. `admin`: everything. Apart from `admin` and `operate`, which includes ' +
    '`handle`, no right includes another.',
  type: 'string',
  enum: RIGHTS,
} as const;
