/**
 * Runs the embedded PostgreSQL under a process of its own, so that a test can kill that process, or run it as another user. Argument: JSON
 * of `dataDir` and, optionally, `fallbackFolder`, `uid`. Answers with one line of JSON. It runs the built program, because Node 20 can't
 * run TypeScript.
 */
import { lockDataDir } from '../../dist/connectors/data-dir/data-dir-lock.js';
import { startEmbeddedPostgres } from '../../dist/connectors/embedded-postgres/server.js';

const { dataDir, fallbackFolder, uid } = JSON.parse(process.argv[2]);
const answer = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const logger = { debug() {}, info() {}, warn() {}, error() {} };

// All code is loaded by now: the other user may be unable to read the checkout.
if (uid !== undefined) {
  process.setgroups([]);
  process.setgid(uid);
  process.setuid(uid);
}

try {
  const begin = performance.now();
  await lockDataDir(dataDir);
  const server = await startEmbeddedPostgres({
    dataDir,
    logger,
    ...(fallbackFolder === undefined ? {} : { fallbackFolder }),
  });
  // Registered before the answer, because the signal may follow it at once
  process.once('SIGTERM', () => {
    void server.stop().then(() => process.exit(0));
  });
  answer({ kind: 'ready', connection: server.connection, tookMs: performance.now() - begin });
  process.stdin.resume();
} catch (error) {
  answer({ kind: 'failed', name: error.name, message: error.message });
}
