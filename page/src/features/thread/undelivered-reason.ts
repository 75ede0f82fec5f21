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

/** Why a send has not gone out, in kinds that an operator can act on, by what the service noted in English. */
export type SendReason =
  UndeliveredReason | 'suppressed' | 'interrupted' | 'mail_server' | 'restored' | 'unnamed';

export function sendReasonOf(detail: string): SendReason {
  if (/suppression list/.test(detail)) return 'suppressed';
  if (detail.startsWith('restored from a backup')) return 'restored';
  if (/no valid reply to the end|ended while the email/.test(detail)) return 'interrupted';
  const [status = null] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(detail) ?? [];
  if (status !== null || /refused: [45]\d\d/.test(detail)) return reasonOf(status);
  if (/failed (?:before|during) the message/.test(detail)) return 'mail_server';
  return 'unnamed';
}
