/** What deceives about the sender of a received email, as JSON. */
import { SENDER_WARNINGS } from '../../core/address/sender-warnings.ts';

export const SenderWarnings = {
  title: 'SenderWarnings',
  type: 'array',
  items: { title: 'SenderWarning', type: 'string', enum: SENDER_WARNINGS },
  $comment:
    'What deceives about the sender of a received email. `shows_other_address`: the name contains an address, or a site, that is not the ' +
    "sender's. `own_name`, `own_address`: one of the accounts', and nothing proves that the email is. `hidden_characters`: characters that " +
    'are not seen, or that change the direction of writing. `lookalike_domain`: letters of several scripts, or that look like plain ones. ' +
    'Warn users about each.',
} as const;
