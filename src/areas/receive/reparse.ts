/**
 * Reads stored messages again with the current parser and records the differences. Everything that is not part of the
 * message stays: the email's id, its customer, the decisions of operators, and its thread, unless the message names
 * Message-IDs of other threads.
 *
 * Files are stored before the email refers to them, and deleted once it no longer does. It can be repeated after an
 * interruption; an email with the same result as before is not changed.
 */
import { ServiceError } from '../../core/errors.ts';
import {
  bytesKey,
  contentKeys,
  identityKey,
  identityOf,
  keyedContentOf,
  type KeyedContent,
} from '../../core/message/identity.ts';
import { DELIVERY_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import type { Account, IdSource, Logger } from '../../platform/base/basics.ts';
import type { BlobStore, ByteRange, Content, Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { EmailStore } from '../emails/email-ports.ts';
import { matchAttachments, removedFrom } from './match-attachments.ts';
import { sha256 } from '../../platform/files/content.ts';
import { readRaw } from '../../platform/files/read-raw.ts';
import { readReceived, type ReadReceivedPorts } from '../../platform/reading/read-received.ts';
import { readReceivedAttachments } from './receive-attachments.ts';
import { ownAddressesIn } from '../../platform/base/own-addresses.ts';
import { toReading } from './to-reading.ts';
import type { ReparseFilter, ReparseStore, ReplaceResult } from './reparse-store.ts';
import type { Reading } from './insert-received.ts';
import type { ReadEmail } from '../emails/write-emails.ts';
import { openStored } from '../../platform/files/open-stored.ts';

export interface ReparsePorts extends Pick<ReadReceivedPorts, 'reader' | 'unreadable'> {
  readonly store: ReparseStore;
  readonly messages: Pick<EmailStore, 'readRaw'>;
  readonly accounts: ReadonlyMap<string, Pick<Account, 'from' | 'addresses'>>;
  readonly blobs: Pick<BlobStore, 'put' | 'get' | 'delete'>;
  readonly spool: Spool;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** `not_parsed`: it still can't be parsed. `failed`: `reason` is English. */
export type ReparseOutcome =
  ReplaceResult | { readonly kind: 'not_parsed' } | { readonly kind: 'failed'; readonly reason: string };

export interface ReparseOptions {
  readonly filter: ReparseFilter;
  /** Begins after this id; null: at the beginning. */
  readonly after: string | null;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Called with each email, in the order of their ids. */
  readonly onEmail: (id: string, outcome: ReparseOutcome) => void;
}

/** Ids that are requested together. */
const PAGE = 500;

/** One email after the other. Ends early when the signal is aborted. Throws when the database is unavailable. */
export async function reparse(ports: ReparsePorts, options: ReparseOptions): Promise<void> {
  let { after } = options;
  for (;;) {
    const ids = await ports.store.list(options.filter, after, PAGE);
    for (const id of ids) {
      if (options.signal.aborted) return;
      options.onEmail(id, await reparseOne(ports, id, options.dryRun));
    }
    after = ids.at(-1) ?? null;
    if (after === null) return;
  }
}

async function reparseOne(ports: ReparsePorts, id: string, dryRun: boolean): Promise<ReparseOutcome> {
  const folder = ports.spool.create();
  try {
    const email = await ports.store.read(id);
    if (email === null) return { kind: 'gone' };
    return await readAgain(ports, email, folder, dryRun);
  } catch (error) {
    // Every other email would fail as well.
    if (error instanceof ServiceError && error.temporary) throw error;
    ports.logger.debug({ err: error, emailId: id }, 'an email could not be read again');
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await folder.remove();
  }
}

async function readAgain(
  ports: ReparsePorts,
  email: ReadEmail,
  folder: SpoolFolder,
  dryRun: boolean,
): Promise<ReparseOutcome> {
  const raw = await openRaw(ports, email.id, folder);
  const received = await readReceived(ports, raw, contextOf(email));
  if (received.message.defects.includes('not_parsed')) return { kind: 'not_parsed' };
  const identity = identityOf(received.message);
  const content = keyedContentOf(received.message);
  const inputs = await readReceivedAttachments(ports, raw, received.message.attachments, folder);
  const attachments = await matchAttachments(ports, email, inputs);
  const reading = {
    ...toReading(
      received,
      identity,
      email.date,
      ports.accounts.get(email.accountId),
      ownAddressesIn(ports.accounts),
    ),
    identity,
    ...(await keysOf(ports, email, raw, identityKey(identity), content)),
    ...content,
    attachments: attachments.map(({ stored }) => stored),
  };
  if (dryRun) return await ports.store.replace(email, reading, true);

  const added = attachments.filter(({ isNew }) => isNew);
  for (const { stored, content } of added) {
    await ports.blobs.put(stored.storagePath, content, stored.contentType);
  }
  const result = await ports.store.replace(email, reading, false);
  const unused = result.kind === 'changed' ? removedFrom(email, attachments) : added;
  for (const { stored } of unused) {
    await ports.blobs.delete(stored.storagePath).catch((err: unknown) => {
      ports.logger.warn({ err, path: stored.storagePath }, 'an unreferenced file could not be deleted');
    });
  }
  return result;
}

/** The key of its identity, unless the email was recorded as another one with that identity. */
async function keysOf(
  ports: ReparsePorts,
  { identityKey: recorded }: ReadEmail,
  raw: Content,
  key: string,
  content: KeyedContent,
): Promise<Pick<Reading, 'identityKey' | 'sharedKey'>> {
  const isOther =
    recorded !== key &&
    (contentKeys(key, content).includes(recorded) || recorded === bytesKey(key, await sha256(ports, raw)));
  return isOther ? { identityKey: recorded, sharedKey: key } : { identityKey: key, sharedKey: null };
}

/** Of the envelope's sender, only this is stored. */
const contextOf = ({ automatic }: ReadEmail): { mailFrom?: null } =>
  automatic?.isNullSender === true ? { mailFrom: null } : {};

async function openRaw({ messages, blobs }: ReparsePorts, id: string, folder: SpoolFolder): Promise<Content> {
  const location = await messages.readRaw(id);
  if (location?.bytes) return { kind: 'bytes', bytes: location.bytes };
  const stream = await openStored(blobs, location?.path ?? null);
  return await readRaw(
    stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
    DELIVERY_IN_MEMORY_MAX_BYTES,
    folder,
  );
}
