/**
 * An email as a page shows it: its HTML made safe, its images at signed addresses; or its text, when there is no such
 * HTML.
 */
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '../../core/errors.ts';
import { inlineType, rasterImageType, SIGNATURE_BYTES } from '../../core/html/image-type.ts';
import { nothingRemoved } from '../../core/html/removed.ts';
import { textAsHtml } from '../../core/html/text-as-html.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import type { AttachmentView, EmailStore } from './email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { askerOf } from '../../platform/reading/reading-ports.ts';
import type { ImageUrls } from './image-urls.ts';
import type { MakeSafeHtml } from './make-safe-html.ts';
import type { ShownImage } from './safe-html-view.ts';
import type { EmailUseCases } from './use-cases.ts';
import { openStored } from '../../platform/files/open-stored.ts';

export interface SafeHtmlPorts {
  readonly store: Pick<EmailStore, 'readEmail' | 'readAttachment'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly makeSafe: MakeSafeHtml;
  readonly imageUrls: ImageUrls;
  /** The service fetches remote images; false: the browser does. */
  readonly hasImageProxy: boolean;
}

type SafeHtmlUseCases = Pick<EmailUseCases, 'readSafeHtml' | 'readSignedImage' | 'inlineTypeOf'>;

export function createSafeHtml(ports: SafeHtmlPorts): SafeHtmlUseCases {
  const { store, blobs, makeSafe, imageUrls, hasImageProxy } = ports;

  async function readStart(attachment: StoredAttachment): Promise<Buffer> {
    const end = Math.min(attachment.sizeBytes, SIGNATURE_BYTES) - 1;
    if (end < 0) return Buffer.alloc(0);
    return await buffer(await openStored(blobs, attachment.storagePath, { start: 0, end }));
  }

  return {
    async readSafeHtml(id, { allowRemote, document = null, authorKeyId }) {
      const email = await store.readEmail(id);
      if (email === null) throw new ServiceError('email_not_found');
      const images = signImages(email.attachments, imageUrls);
      const addresses = addressesOf(email.attachments, images);
      const proxy = hasImageProxy && allowRemote ? imageUrls.proxyKey(id, askerOf(authorKeyId)) : null;
      const safe = await makeSafe(email, { allowRemote, proxy, images: addresses, document, authorKeyId });
      const imagesExpireAt = imageUrls.expiresAt();
      if (safe !== null) return { ...safe, madeFrom: 'html', images, imagesExpireAt, hasImageProxy };
      return {
        html: textAsHtml(email.textBody),
        sheet: '',
        ground: null,
        madeFrom: 'text',
        removed: nothingRemoved(),
        deceptiveLinks: 0,
        isCut: false,
        images: [],
        imagesExpireAt,
        hasImageProxy,
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

/** By their Content-IDs; if several share one, the first. */
function signImages(attachments: readonly AttachmentView[], urls: ImageUrls): readonly ShownImage[] {
  const images = new Map<string, ShownImage>();
  for (const { id, contentId, contentType } of attachments) {
    if (contentId === null || images.has(contentId) || contentType.startsWith('image/svg')) continue;
    images.set(contentId, { attachmentId: id, contentId, url: urls.sign(id) });
  }
  return [...images.values()];
}

/** By Content-ID; by file name where that is no other file's Content-ID, since some senders write `cid:` and the name. */
function addressesOf(
  attachments: readonly AttachmentView[],
  images: readonly ShownImage[],
): ReadonlyMap<string, string> {
  const addresses = new Map(images.map(({ contentId, url }) => [contentId, url]));
  const urls = new Map(images.map(({ attachmentId, url }) => [attachmentId, url]));
  for (const { id, filename } of attachments) {
    const url = urls.get(id);
    if (url !== undefined && !addresses.has(filename)) addresses.set(filename, url);
  }
  return addresses;
}
