/** A part of the composition root: finds the built page. */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The same from `src/service/` and from `dist/bundle/`. */
const FOLDER = fileURLToPath(new URL('../../page/dist', import.meta.url));

/** The folder of the page's files; null when it was not built. */
export async function findPage(): Promise<string | null> {
  try {
    await access(path.join(FOLDER, 'index.html'));
    return FOLDER;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
