/**
 * Asks three reading processes, two of which never answer (one of these after hundreds of answers), and prints their process ids. The test
 * then kills this process. Forked by itself, this file is such a reading process. During its first answers, it gives up after a second on
 * work that its parent does not end; during later ones, not by itself.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serveReadings } from '../../dist/connectors/reading/serve-readings.js';

if (process.send !== undefined) {
  serveReadings(
    ({ asked }) => {
      if (asked === 'loop') for (;;);
    },
    undefined,
    process.argv[2] === 'watched' ? undefined : 1000,
  );
} else {
  const start = async (asked, before = 0) => {
    const child = fork(fileURLToPath(import.meta.url), before > 0 ? ['watched'] : [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(child, 'message');
    for (let id = 1; id <= before; id += 1) {
      child.send({ id, kind: 'html', asked: 'rest' });
      await once(child, 'message');
    }
    child.send({ id: before + 1, kind: 'html', asked });
    return child.pid;
  };
  const pids = await Promise.all([start('rest'), start('loop'), start('loop', 2000)]);
  // Until both are busy.
  await setTimeout(300);
  process.stdout.write(`${pids.join(' ')}\n`);
}
