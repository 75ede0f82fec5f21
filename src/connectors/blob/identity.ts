/**
 * The object that identifies a store: a file of JSON beside the folders of the accounts. It has no leading dot, so that a copy of the folder
 * by any program takes it along, and no account can have its name.
 */
import type { StorageIdentity } from '../../platform/files/file-ports.ts';

export const IDENTITY_NAME = '_storage.json';
const FORMAT = 'email-worker-storage/1';

export const formatIdentity = ({ id, database }: StorageIdentity): Buffer =>
  Buffer.from(`${JSON.stringify({ format: FORMAT, id, database })}\n`);

/** Throws a plain error when it is none. */
export function parseIdentity(text: string): StorageIdentity {
  const { format, id, database } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  if (format !== FORMAT || typeof id !== 'string' || typeof database !== 'string') {
    throw new Error(`${IDENTITY_NAME} is not an identity of a storage`);
  }
  return { id, database };
}
