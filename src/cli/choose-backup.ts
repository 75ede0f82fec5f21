/** Finds the backup that a command names. */
import type { Vault } from '../areas/backup/vault.ts';
import { BackupError } from '../core/backup/manifest.ts';

export const PLACE = {
  name: 'place',
  meaning: 'Place of the backups: a folder or `s3://…`.',
  required: true,
  repeated: false,
  completes: 'files',
} as const;

export const AT_OPTION = {
  at: {
    type: 'string',
    value: 'id',
    meaning: 'Id of the backup; `backup --list` shows them. Default: the last complete one.',
  },
} as const;

/** @param wanted an id; null: the last whole one. Throws BackupError when there is none. */
export async function chooseBackup(vault: Vault, wanted: string | null): Promise<string> {
  if (wanted !== null) return wanted;
  const last = (await vault.list()).findLast(({ isWhole }) => isWhole);
  if (last === undefined) throw new BackupError('the place has no complete backup');
  return last.id;
}
