/** Chooses the blob store by configuration. */
import path from 'node:path';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import { FolderBlobStore } from './folder.ts';
import type { S3Credentials } from './s3.ts';
import { parseS3Url } from './s3-url.ts';

export interface BlobStoreOptions {
  /** `s3://…`, see s3-url.ts; null for the folder. */
  readonly url: string | null;
  readonly folder: string;
  /** True: another process owns the folder, and this one only uses it. Default false. */
  readonly shared?: boolean;
  /** null: the credentials that the environment of the process offers, such as an instance's role. For S3 only. */
  readonly credentials: S3Credentials | null;
}

/**
 * Opens the folder, or creates a client without asking the server anything yet. Throws a plain error for a wrong URL, and
 * `ServiceError('storage_unavailable' | 'disk_full')` when the folder can't be used.
 */
export async function createBlobStore(options: BlobStoreOptions): Promise<BlobStore> {
  if (options.url === null) return FolderBlobStore.open(options.folder, options.shared);
  const location = parseS3Url(options.url);
  // Loaded only here: a start without S3 does not pay for the SDK.
  const { S3BlobStore } = await import('./s3.ts');
  return new S3BlobStore({ ...location, credentials: options.credentials });
}

export interface PlaceOptions {
  /** A folder, or `s3://…`. */
  readonly place: string;
  readonly credentials: S3Credentials | null;
}

/** A store for a part of a place, which several processes may use. Throws as `createBlobStore` does. */
export async function openPlace({ place, credentials }: PlaceOptions, part: string): Promise<BlobStore> {
  if (!isS3(place)) return FolderBlobStore.open(path.join(place, part), true);
  const location = parseS3Url(place, 'the place');
  const { S3BlobStore } = await import('./s3.ts');
  return new S3BlobStore({ ...location, prefix: `${location.prefix}${part}/`, credentials });
}

export const isS3 = (place: string): boolean => place.startsWith('s3:');
