/**
 * Compares an arriving message with the record of the same identity, and keeps it when its bytes differ. A copy of an
 * email of ours proves that the email went out only if it is exactly what was sent.
 */
import { isUnchangedCopy, toContents } from '../../core/message/same-email.ts';
import type { ParsedMessage } from '../../core/mime/parse/parsed-message.ts';
import { sha256, sizeOf } from '../../platform/files/content.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type {
  BlobStore,
  Content,
  RawLocation,
  RecordedRaw,
  Spool,
  SpoolFolder,
} from '../../platform/files/file-ports.ts';
import { readReceived, type ReadReceivedPorts } from '../../platform/reading/read-received.ts';
import type { VariantRecord, VariantStore } from '../emails/variants.ts';

export interface VariantPorts extends ReadReceivedPorts {
  readonly variants: VariantStore;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
  readonly spool: Spool;
}

/** Evidence that an email went out. */
export const COPY_CAME_BACK = 'its copy came back';

/** Emails of one round. */
const BATCH = 100;

/** True if a message with the identity of a recorded email is that email as it was sent. */
export async function isAsSent(
  ports: VariantPorts,
  emailId: string,
  message: ParsedMessage,
): Promise<boolean> {
  const sent = await readStored(ports, await ports.variants.locateRaw(emailId));
  return sent !== null && isUnchangedCopy(message, sent);
}

/**
 * `bytes`: the record holds these bytes. `content`: the same texts and files came another way. `marks`: it is the same email with marks that
 * were added on its way. `other`: another email with the same identity.
 */
type Likeness = 'bytes' | 'content' | 'marks' | 'other';

/** Compares a message with the stored one of a record of its identity. */
export async function compareStored(
  ports: VariantPorts,
  emailId: string,
  { raw, message }: { readonly raw: Content; readonly message: ParsedMessage },
): Promise<Likeness> {
  const location = await ports.variants.locateRaw(emailId);
  if (location === null) return 'other';
  const folder = ports.spool.create();
  try {
    const stored = await openStored(ports, location, folder);
    if (stored === null) return 'other';
    if (await hasSameBytes(ports, stored, raw)) return 'bytes';
    const recorded = (await readReceived(ports, stored, {})).message;
    const same = await ports.reader.read('sameEmail', [toContents(recorded), toContents(message)]);
    // Texts that can't be compared are two emails: a person sees both.
    if (same.kind === 'failed' || !same.value) return 'other';
    return recorded.contentDigest === message.contentDigest ? 'content' : 'marks';
  } finally {
    await folder.remove();
  }
}

async function hasSameBytes(ports: VariantPorts, one: Content, other: Content): Promise<boolean> {
  return sizeOf(one) === sizeOf(other) && (await sha256(ports, one)) === (await sha256(ports, other));
}

/** A stored message, as the current parser reads it; null when it is gone. */
async function readStored(ports: VariantPorts, location: RawLocation | null): Promise<ParsedMessage | null> {
  if (location === null) return null;
  const folder = ports.spool.create();
  try {
    const raw = await openStored(ports, location, folder);
    return raw === null ? null : (await readReceived(ports, raw, {})).message;
  } finally {
    await folder.remove();
  }
}

async function openStored(
  { blobs }: VariantPorts,
  { bytes, path }: RawLocation,
  folder: SpoolFolder,
): Promise<Content | null> {
  if (bytes !== null) return { kind: 'bytes', bytes };
  const stream = path === null ? null : await blobs.get(path);
  return stream === null ? null : await folder.write(stream);
}

/** Keeps a message whose bytes differ from its record. May be repeated. `refused`: the email has too many variants. */
export async function keepVariant(
  ports: VariantPorts,
  raw: Content,
  location: RecordedRaw,
  variant: Omit<VariantRecord, keyof RecordedRaw | 'rawDigest'>,
): Promise<'kept' | 'known' | 'refused'> {
  const { rawPath } = location;
  const rawDigest = await sha256(ports, raw);
  if (rawPath !== null) await ports.blobs.put(rawPath, raw, 'message/rfc822');
  const added = await ports.variants.addVariant({ ...variant, rawDigest, ...location });
  if (added !== 'kept' && rawPath !== null) await deleteFiles(ports, [rawPath]);
  return added;
}

export interface CompareCopiesPorts extends VariantPorts {
  /** The sent email certainly went out; does nothing unless its outcome is unknown. */
  readonly settleUnknown: (emailId: string, evidence: string) => Promise<void>;
}

/**
 * Compares a sent email with the copies that were recorded before it, or before it was known that they are copies: a copy
 * that is what was sent is not a variant, and proves that the email went out. May be repeated.
 */
export async function compareCopies(ports: CompareCopiesPorts, emailId: string): Promise<void> {
  const { variants } = ports;
  const sent = await readStored(ports, await variants.locateRaw(emailId));
  const compared = [];
  for (const id of await variants.uncompared(emailId)) {
    const copy = sent === null ? null : await readStored(ports, await variants.locateVariant(emailId, id));
    compared.push({ id, isUnchanged: sent !== null && copy !== null && isUnchangedCopy(copy, sent) });
  }
  if (compared.some(({ isUnchanged }) => isUnchanged)) await ports.settleUnknown(emailId, COPY_CAME_BACK);
  await deleteFiles(ports, await variants.concludeComparison(emailId, compared));
}

/** Compares all emails that wait for it, also after a crash. One that fails does not stop the others. */
export async function compareDueCopies(ports: CompareCopiesPorts): Promise<void> {
  for (const emailId of await ports.variants.dueComparisons(BATCH)) {
    try {
      await compareCopies(ports, emailId);
    } catch (err) {
      ports.logger.error({ err, emailId }, 'copies of a sent email could not be compared yet');
    }
  }
}
