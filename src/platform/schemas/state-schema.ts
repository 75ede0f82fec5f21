/** The state of an email in the API. */
import { EMAIL_STATES } from '../../core/delivery/states.ts';

export const State = { title: 'EmailState', type: 'string', enum: EMAIL_STATES } as const;
