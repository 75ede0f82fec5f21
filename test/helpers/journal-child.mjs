/**
 * Uses a journal until it is killed. Arguments: data folder, mode.
 * - `prepare`: prepares entry after entry, 20 at a time, and prints the number of each one that is safe.
 * - `settle`: prepares and settles one entry and kills itself in the same turn of the event loop.
 * - `open`: opens and closes the journal, and prints the code of the error that it got, or `opened`.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbJournal } from '../../dist/connectors/journal/lmdb-journal.js';
import { createSpool } from '../../dist/connectors/journal/spool.js';
import { end, makeAttempt, silentLogger } from './journal-entry.mjs';

const [folder, mode] = process.argv.slice(2);
const spool = createSpool(join(folder, 'spool'));
const opening = LmdbJournal.open({ folder: join(folder, 'journal'), spool, logger: silentLogger });
if (mode === 'open') {
  const outcome = await opening.then(
    async (journal) => (await journal.close(), 'opened'),
    (error) => error.code,
  );
  writeSync(1, outcome);
  process.exit();
}
const journal = await opening;

let next = 1;
/** Every tenth entry has its raw message in the spool. */
async function prepareNext() {
  const n = next++;
  const attempt = makeAttempt(n);
  const scratch = spool.create();
  if (n % 10 === 0) attempt.email.raw = await scratch.write([Buffer.from(`raw of ${n}`)]);
  await journal.prepare(attempt, scratch);
  return n;
}

if (mode === 'settle') {
  await prepareNext();
  journal.settle(end(makeAttempt(1)));
  process.kill(process.pid, 'SIGKILL');
}
await Promise.all(
  Array.from({ length: 20 }, async () => {
    for (;;) writeSync(1, `${await prepareNext()}\n`);
  }),
);
