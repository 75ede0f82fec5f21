/** A part of the composition root: a place that holds backups. */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { isS3, openPlace } from '../connectors/blob/create.ts';
import { Vault } from '../areas/backup/vault.ts';
import type { Config } from '../config/config.ts';
import { BackupError } from '../core/backup/manifest.ts';

/**
 * Throws BackupError, and the errors of the storage.
 *
 * @param place a folder or `s3://…`
 * @param isNew false: something is to be read, so a missing folder is a mistake
 */
export async function openVault(config: Config, place: string, isNew: boolean): Promise<Vault> {
  const options = { place: isS3(place) ? place : path.resolve(place), credentials: config.s3Credentials };
  if (!isNew && !isS3(place)) await requireFolder(path.join(options.place, 'backups'));
  const [backups, files] = [await openPlace(options, 'backups'), await openPlace(options, 'files')];
  const cipher =
    config.backupKey === null
      ? null
      : await (await import('../connectors/age/age-cipher.ts')).createAgeCipher(config.backupKey);
  const vault = new Vault({ backups, files }, cipher);
  if (isNew) await vault.check();
  return vault;
}

async function requireFolder(folder: string): Promise<void> {
  try {
    await access(folder);
  } catch (cause) {
    throw new BackupError(`there are no backups: ${folder} can't be read`, { cause });
  }
}
