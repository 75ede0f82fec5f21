/** The dry run of a send: everything that a send does before it is recorded or handed over, and nothing after that. */
import type { CheckedEmail, SendRequest } from './use-cases.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { sizeOf } from '../../platform/files/content.ts';
import { prepareSend, type PrepareSendPorts } from './prepare-send.ts';
import { asksForQueue } from './queue-request.ts';

/** Takes over `folder`. Throws the errors of a send about its request. Nothing is written, counted or learned. */
export async function checkSend(
  ports: PrepareSendPorts,
  request: SendRequest,
  folder: SpoolFolder,
): Promise<CheckedEmail> {
  try {
    const { email } = await prepareSend(ports, request, folder, ports.ids.uuid());
    const { record, raw, queue } = email;
    const { accountId, from, to, cc, bcc, subject, textBody, htmlBody, attachments } = record;
    return {
      queued: asksForQueue(request),
      accountId,
      threadId: record.placement.rule === 'new' ? null : record.threadId,
      from,
      to,
      cc,
      bcc,
      subject,
      textBody,
      htmlBody,
      sendAt: queue.dueAt,
      attachments: attachments.map(({ filename, contentType, sizeBytes }) => ({
        filename,
        contentType,
        sizeBytes,
      })),
      sizeBytes: sizeOf(raw),
    };
  } finally {
    await folder.remove();
  }
}
