/**
 * Replaces a received message by a Sent copy when the message was recorded first under the same identity with other
 * content. The order of arrival must not let a stranger decide what the account's owner wrote. The received content
 * becomes a variant.
 */
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { sha256 } from '../../platform/files/content.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { BlobStore, ByteRange, Content } from '../../platform/files/file-ports.ts';
import type { IdSource, Logger } from '../../platform/base/basics.ts';
import { locationOfRaw } from '../../platform/files/raw-location.ts';
import type { ContentReplacements } from './replace-content-rows.ts';
import { matchAttachments, removedFrom } from './match-attachments.ts';
import type { Reading } from './insert-received.ts';
import type { MailSource } from '../../core/message/mail-source.ts';

export interface ReplaceContentPorts {
  readonly store: ContentReplacements;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
  readonly logger: Logger;
}

export interface SentContentInput {
  /** The id of the variant that the received content becomes; the raw message is stored under it. */
  readonly variantId: string;
  readonly reading: Omit<Reading, 'attachments'>;
  /** Its attachments. */
  readonly inputs: readonly AttachmentInput[];
  readonly raw: Content;
  readonly receivedBy: MailSource | null;
}

/** False when the email is outbound by now, or gone: nothing was changed. */
export async function replaceContent(
  ports: ReplaceContentPorts,
  { id }: { readonly id: string },
  { variantId, reading, inputs, raw, receivedBy }: SentContentInput,
): Promise<boolean> {
  const email = await ports.store.readRecorded(id);
  if (email === null) return false;
  const attachments = await matchAttachments(ports, email, inputs);
  const location = locationOfRaw(raw, email.accountId, variantId);
  const added = attachments.filter(({ isNew }) => isNew);
  if (location.rawPath !== null) await ports.blobs.put(location.rawPath, raw, 'message/rfc822');
  for (const { stored, content } of added) {
    await ports.blobs.put(stored.storagePath, content, stored.contentType);
  }
  const orphans = await ports.store.replaceBySent(email, {
    variantId: ports.ids.uuid(),
    reading: { ...reading, attachments: attachments.map(({ stored }) => stored) },
    raw: location,
    rawDigest: await sha256(ports, raw),
    receivedBy,
  });
  const unused = (orphans === null ? added : removedFrom(email, attachments)).map(
    ({ stored }) => stored.storagePath,
  );
  const rawPaths = orphans ?? (location.rawPath === null ? [] : [location.rawPath]);
  await deleteFiles(ports, [...unused, ...rawPaths]);
  return orphans !== null;
}
