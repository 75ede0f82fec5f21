/** Finds the connection to the embedded database of a running service. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export function connectionOf(dataDir) {
  const pidFile = readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n');
  return { host: pidFile[4], port: Number(pidFile[3]), user: 'email_worker', database: 'email_worker' };
}
