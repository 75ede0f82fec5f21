/** An email as a page shows it: its HTML made safe, its images at signed addresses; its text, where there is no such HTML. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '../../core/errors.ts';
import { inlineType, rasterImageType, SIGNATURE_BYTES } from '../../core/html/image-type.ts';
import { nothingRemoved } from '../../core/html/removed.ts';
import { textAsHtml } from '../../core/html/text-as-html.ts';
import type { Logger } from '../base/basics.ts';
import type { BlobStore } from '../files/file-ports.ts';
import type { MessageReader } from '../reading/reading-ports.ts';
import { UnreadableMail } from '../reading/unreadable-mail.ts';
import type { AttachmentView, EmailDetail, EmailStore, StoredAttachment } from './email-ports.ts';
import type { ImageUrls } from './image-urls.ts';
import type { ShownImage } from './safe-html-view.ts';
import type { EmailUseCases } from './use-cases.ts';

export interface SafeHtmlPorts {
  readonly store: Pick<EmailStore, 'readEmail' | 'readAttachment'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly reader: MessageReader;
  readonly imageUrls: ImageUrls;
  readonly logger: Logger;
}

type SafeHtmlUseCases = Pick<EmailUseCases, 'readSafeHtml' | 'readSignedImage' | 'inlineTypeOf'>;

export function createSafeHtml(ports: SafeHtmlPorts): SafeHtmlUseCases {
  // What failed once is not tried again each time that it is looked at.
  const failed = new UnreadableMail();
  const { store, blobs, imageUrls } = ports;

  async function readStart(attachment: StoredAttachment): Promise<Buffer> {
    const end = Math.min(attachment.sizeBytes, SIGNATURE_BYTES) - 1;
    if (end < 0) return Buffer.alloc(0);
    const stream = await blobs.get(attachment.storagePath, { start: 0, end });
    if (stream === null) throw new ServiceError('content_missing');
    return await buffer(stream);
  }

  return {
    async readSafeHtml(id, { allowRemote }) {
      const email = await store.readEmail(id);
      if (email === null) throw new ServiceError('email_not_found');
      const images = signImages(email.attachments, imageUrls);
      const byContentId = new Map(images.map(({ contentId, url }) => [contentId, url]));
      const safe = await makeSafe(ports, failed, email, { allowRemote, images: byContentId });
      const imagesExpireAt = imageUrls.expiresAt();
      if (safe !== null) return { ...safe, madeFrom: 'html', images, imagesExpireAt };
      return {
        html: textAsHtml(email.textBody),
        madeFrom: 'text',
        removed: nothingRemoved(),
        deceptiveLinks: 0,
        isCut: false,
        images: [],
        imagesExpireAt,
      };
    },

    async readSignedImage(image) {
      const attachment = imageUrls.isValid(image) ? await store.readAttachment(image.attachmentId) : null;
      if (attachment === null) throw new ServiceError('image_not_found');
      const type = rasterImageType(await readStart(attachment));
      if (type === null) throw new ServiceError('image_not_found');
      return { attachment, type };
    },

    async inlineTypeOf(attachment) {
      return inlineType(attachment.contentType, await readStart(attachment));
    },
  };
}

/** By their Content-IDs; of several with the same one, the first. */
function signImages(attachments: readonly AttachmentView[], urls: ImageUrls): readonly ShownImage[] {
  const images = new Map<string, ShownImage>();
  for (const { id, contentId, contentType } of attachments) {
    if (contentId === null || images.has(contentId) || contentType.startsWith('image/svg')) continue;
    images.set(contentId, { attachmentId: id, contentId, url: urls.sign(id) });
  }
  return [...images.values()];
}

/** null where only the text can be shown. Throws `ServiceError('reading_unavailable')`. */
async function makeSafe(
  { reader, logger }: SafeHtmlPorts,
  failed: UnreadableMail,
  { id, htmlBody }: EmailDetail,
  options: { readonly allowRemote: boolean; readonly images: ReadonlyMap<string, string> },
) {
  if (htmlBody === null || htmlBody.trim() === '') return null;
  const digest = failed.isEmpty ? null : digestOf(htmlBody);
  if (digest !== null && failed.reasonOf(digest) !== null) return null;
  const result = await reader.read('safeHtml', { html: htmlBody, ...options });
  if (result.kind === 'read') return result.value;
  failed.add(digest ?? digestOf(htmlBody), result.reason);
  logger.error(
    { emailId: id, reason: result.reason, detail: result.detail },
    'the HTML of an email could not be made safe; its text is shown',
  );
  return null;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
