/** A part of the composition root: finds the built page, and the guide. */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The same from `src/service/` and from `dist/bundle/`. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of the page's files; null when it was not built. */
export const findPage = (): Promise<string | null> => folderWith(path.join(ROOT, 'page/dist'), 'index.html');

/** The folder of the guide, which the package has; null when it was left out. */
export const findGuide = (): Promise<string | null> => folderWith(path.join(ROOT, 'docs'), 'api/README.md');

async function folderWith(folder: string, file: string): Promise<string | null> {
  try {
    await access(path.join(folder, file));
    return folder;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
