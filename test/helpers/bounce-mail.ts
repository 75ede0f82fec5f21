/** Reports about sent mail, as text. */
import { mail, type MailFields } from './inbound-mail.ts';

export interface ReportedRecipient {
  readonly address: string;
  /** Default `failed`. */
  readonly action?: string;
  /** Default `5.1.1`. */
  readonly status?: string;
  /** Default: a text saying that there is no such user. */
  readonly diagnostic?: string;
  /** Original-Recipient, where it differs. */
  readonly original?: string;
}

/** A delivery report, RFC 3464, that returns the header of the message with that Message-ID. */
export function deliveryReport(
  messageId: string,
  recipients: readonly ReportedRecipient[],
  fields: MailFields = {},
): string {
  const groups = recipients.map(({ address, action, status, diagnostic, original }) =>
    [
      ...(original === undefined ? [] : [`Original-Recipient: rfc822; ${original}`]),
      `Final-Recipient: rfc822; ${address}`,
      `Action: ${action ?? 'failed'}`,
      `Status: ${status ?? '5.1.1'}`,
      `Diagnostic-Code: smtp; ${diagnostic ?? '550 5.1.1 No such user here'}`,
    ].join('\r\n'),
  );
  return report('delivery-status', messageId, fields, [
    'Content-Type: message/delivery-status',
    '',
    ['Reporting-MTA: dns; mx.customer.test', ...groups].join('\r\n\r\n'),
  ]);
}

/** A complaint, RFC 5965; `recipient` null: removed by the reporter. */
export function complaint(messageId: string, recipient: string | null, fields: MailFields = {}): string {
  return report('feedback-report', messageId, { from: 'fbl@provider.test', ...fields }, [
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Provider/1.0',
    'Version: 1',
    ...(recipient === null ? [] : [`Original-Rcpt-To: ${recipient}`]),
  ]);
}

function report(type: string, messageId: string, fields: MailFields, status: readonly string[]): string {
  return mail({
    from: 'MAILER-DAEMON@customer.test',
    subject: 'Undelivered Mail Returned to Sender',
    date: new Date().toUTCString(),
    ...fields,
    headers: [
      'Auto-Submitted: auto-replied',
      `Content-Type: multipart/report; report-type=${type}; boundary=b`,
      'MIME-Version: 1.0',
    ],
    body: [
      '--b',
      'Content-Type: text/plain',
      '',
      'This is about your message.',
      '',
      '--b',
      ...status,
      '',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      'From: sales@example.com',
      'Subject: Angebot',
      `Message-ID: ${messageId}`,
      '',
      '--b--',
    ].join('\r\n'),
  });
}
