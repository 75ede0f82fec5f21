/**
 * Asks two reading processes, one of which never answers, and prints their process ids. The test kills it then. Forked by
 * itself, it is such a process, which gives up after a second on work that its parent does not end.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { serveReadings } from '../../dist/adapters/reading/serve-readings.js';

if (process.send !== undefined) {
  serveReadings(({ asked }) => {
    if (asked === 'loop') for (;;);
  }, 1000);
} else {
  const start = async (asked) => {
    const child = fork(fileURLToPath(import.meta.url), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await new Promise((resolve) => child.once('message', resolve));
    child.send({ id: 1, kind: 'html', asked });
    return child.pid;
  };
  process.stdout.write(`${(await Promise.all([start('rest'), start('loop')])).join(' ')}\n`);
}
