/** The recipients that were not accepted, of an email that was sent to others. */
import type { RecipientOutcome } from '../../core/delivery/states.ts';

/** Empty when none was refused or deferred. */
export function notAcceptedOf(recipients: readonly RecipientOutcome[]): {
  readonly notAccepted?: readonly RecipientOutcome[];
} {
  const notAccepted = recipients
    .filter(({ state }) => state === 'rejected' || state === 'deferred')
    .map(({ address, state, reply }) => ({ address, state, reply }));
  return notAccepted.length === 0 ? {} : { notAccepted };
}
