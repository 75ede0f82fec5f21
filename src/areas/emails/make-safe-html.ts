/** Makes the HTML of an email safe, or reads it for a forward, in the reading processes; what failed once is not made safe again. */
import { createHash } from 'node:crypto';
import type { ForwardHtml } from '../../core/html/without-active.ts';
import type { SafeHtml, SanitizeOptions } from '../../core/html/sanitize-html.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { askerOf, type MessageReader } from '../../platform/reading/reading-ports.ts';
import { UnreadableMail } from '../../platform/reading/unreadable-mail.ts';
import type { EmailDetail } from './email-ports.ts';

/** null when only the text can be shown. Throws `reading_unavailable`, and `rate_limited` when very many requests of the same key wait. */
export type MakeSafeHtml = (
  email: Pick<EmailDetail, 'id' | 'htmlBody'>,
  options: SanitizeOptions & { readonly authorKeyId?: string | null },
) => Promise<SafeHtml | null>;

export function createMakeSafeHtml({
  reader,
  logger,
}: {
  readonly reader: MessageReader;
  readonly logger: Logger;
}): MakeSafeHtml {
  const failed = new UnreadableMail();
  return async ({ id, htmlBody }, { authorKeyId, ...options }) => {
    if (htmlBody === null || htmlBody.trim() === '') return null;
    const digest = failed.isEmpty ? null : digestOf(htmlBody);
    if (digest !== null && failed.reasonOf(digest) !== null) return null;
    const result = await reader.read('safeHtml', { html: htmlBody, ...options }, askerOf(authorKeyId));
    if (result.kind === 'read') return result.value;
    failed.add(digest ?? digestOf(htmlBody), result.reason);
    logger.error(
      { emailId: id, reason: result.reason, detail: result.detail },
      'the HTML of an email could not be sanitised; its text is shown',
    );
    return null;
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The HTML for a forward; null when only a safe form, or the text, can be sent. Throws as MakeSafeHtml. */
export async function readForwardHtml(
  { reader, logger }: { readonly reader: MessageReader; readonly logger: Logger },
  html: string,
  authorKeyId: string | null | undefined,
): Promise<ForwardHtml | null> {
  const result = await reader.read('forwardHtml', { html }, askerOf(authorKeyId));
  if (result.kind === 'read') return result.value;
  logger.error(
    { reason: result.reason, detail: result.detail },
    'the HTML of an email could not be read for a forward; a safe form is sent',
  );
  return null;
}
