/** Matches the attachments of a message that is read again with those of its recorded email. */
import { displayFilename, StorageNames } from '../../core/mime/text/filename.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { sha256, sizeOf } from '../../platform/files/content.ts';
import type { ReadEmail } from '../emails/write-emails.ts';

export interface MatchAttachmentsPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
}

interface MatchedAttachment {
  readonly stored: StoredAttachment;
  readonly content: Content;
  readonly isNew: boolean;
}

/**
 * The same bytes under the same name are the same attachment: callers may have kept its id. A new attachment never
 * overwrites an existing file, which the email refers to until the end.
 */
export async function matchAttachments(
  ports: MatchAttachmentsPorts,
  email: Pick<ReadEmail, 'id' | 'accountId' | 'attachments'>,
  inputs: readonly AttachmentInput[],
): Promise<readonly MatchedAttachment[]> {
  const left = [...email.attachments];
  const names = new StorageNames(
    email.attachments.map(({ storagePath }) => storagePath.split('/').at(-1) ?? ''),
  );
  const matched: MatchedAttachment[] = [];
  for (const { filename, contentType: given, content, contentId = null, inline = false } of inputs) {
    const display = displayFilename(filename);
    const contentType = given ?? 'application/octet-stream';
    const digest = await sha256(ports, content);
    const index = left.findIndex((old) => old.sha256 === digest && old.filename === display);
    const [old] = index === -1 ? [] : left.splice(index, 1);
    if (old !== undefined) {
      matched.push({ stored: { ...old, contentType, contentId, inline }, content, isNew: false });
      continue;
    }
    const segment = names.add(display);
    matched.push({
      stored: {
        id: ports.ids.uuid(),
        filename: display,
        contentType,
        sizeBytes: sizeOf(content),
        storagePath: `${email.accountId}/${email.id}/${segment}`,
        sha256: digest,
        contentId,
        inline,
      },
      content,
      isNew: true,
    });
  }
  return matched;
}

/** The attachments that the email no longer has. */
export function removedFrom(
  email: Pick<ReadEmail, 'attachments'>,
  attachments: readonly MatchedAttachment[],
): readonly { readonly stored: StoredAttachment }[] {
  const kept = new Set(attachments.map(({ stored }) => stored.id));
  return email.attachments.filter(({ id }) => !kept.has(id)).map((stored) => ({ stored }));
}
