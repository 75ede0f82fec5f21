/** Deletes old backups, interrupted ones, and the files that no remaining backup names. */
import { isAbsent } from '../../core/backup/file-entry.ts';
import { readFileLines } from './file-list.ts';
import { UsedNames } from './used-names.ts';
import type { Vault } from './vault.ts';

/** No backup may be made meanwhile: it could rely on a file that is being deleted. */
export async function pruneBackups(
  vault: Vault,
  keep: number,
  onStep: (text: string) => void,
): Promise<{ readonly backups: number; readonly files: number }> {
  const all = await vault.list();
  const kept = all.filter(({ isWhole }) => isWhole).slice(-keep);
  const old = all.filter((backup) => !kept.includes(backup));
  if (old.length === 0) return { backups: 0, files: 0 };
  onStep('deleting old backups');
  // Before anything is deleted: the files of a backup that can't be read are unknown.
  const manifests = [];
  for (const { id } of kept) manifests.push({ id, manifest: await vault.readManifest(id) });
  const used = new UsedNames(manifests.reduce((sum, { manifest }) => sum + manifest.files.count, 0));
  for (const { id, manifest } of manifests) {
    for await (const line of readFileLines(vault, id, manifest)) {
      if (!isAbsent(line)) for (const name of vault.objectsOf(line)) used.add(name);
    }
  }
  await vault.removeBackups(old.map(({ id }) => id));
  const files = await vault.removeUnusedFiles((name) => used.mayHave(name));
  return { backups: old.length, files };
}
