/**
 * Finds the attachments of a send that its HTML shows: they are sent as related parts (RFC 2387), the others as files.
 */
import { invalidRequest } from '../../core/errors.ts';
import { contentIdsIn, readContentId } from '../../core/mime/text/content-ids.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';

/**
 * A Content-ID that nothing refers to stays with its file; a reference without a file is sent as it is. Throws
 * `invalid_content_id`, and `invalid_request` for one that occurs twice.
 */
export function markInlineImages<File extends Pick<AttachmentInput, 'contentId'>>(
  attachments: readonly File[],
  html: string | null,
): readonly File[] {
  if (attachments.every(({ contentId = null }) => contentId === null)) return attachments;
  const shown = contentIdsIn(html ?? '');
  const seen = new Set<string>();
  return attachments.map((attachment, index) => {
    const { contentId: given = null } = attachment;
    if (given === null) return attachment;
    const field = `attachments[${index}].content_id`;
    const contentId = readContentId(given, field);
    if (seen.has(contentId)) throw invalidRequest('repeated', { field });
    seen.add(contentId);
    return { ...attachment, contentId, inline: shown.has(contentId) };
  });
}
