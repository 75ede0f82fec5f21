/** Helpers for tests of decisions about threads. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeTempFolder } from './temp-folder.ts';

/** An ACCOUNTS_FILE with these accounts. */
export async function writeAccounts(...ids: readonly string[]): Promise<string> {
  const folder = await makeTempFolder();
  const file = path.join(folder.path, 'accounts.json');
  await writeFile(file, JSON.stringify(ids.map((id) => ({ id, from: `${id}@example.com` }))));
  return file;
}
