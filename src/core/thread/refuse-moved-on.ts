/** Refuses a send whose writer has not seen the whole thread. */
import { ServiceError } from '../errors.ts';
import type { NewEmail } from './new-email.ts';

/** Throws `thread_has_moved_on` when there are any. */
export function refuseMovedOn(newEmails: readonly NewEmail[]): void {
  if (newEmails.length > 0) throw new ServiceError('thread_has_moved_on', { newEmails });
}
