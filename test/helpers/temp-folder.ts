import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A new empty folder for one test. */
export async function makeTempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), 'email-worker-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
