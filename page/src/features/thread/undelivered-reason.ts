/** Why an email did not arrive, in kinds that a clerk can act on, from the status of RFC 3463. */
export type UndeliveredReason =
  'no_such_address' | 'mailbox_full' | 'too_large' | 'refused' | 'unreachable' | 'other';

export function reasonOf(status: string | null): UndeliveredReason {
  const [, subject, detail] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(status ?? '') ?? [];
  switch (subject) {
    case '1':
      return 'no_such_address';
    case '2':
      return detail === '2' ? 'mailbox_full' : detail === '3' ? 'too_large' : 'no_such_address';
    case '3':
      return detail === '4' ? 'too_large' : 'unreachable';
    case '4':
      return 'unreachable';
    case '7':
      return 'refused';
    default:
      return 'other';
  }
}
