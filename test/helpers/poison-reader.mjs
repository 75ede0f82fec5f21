/**
 * A reading process for tests: the first line of a message selects what its reading does; any other message is returned. It runs the built
 * program, because Node 20 can't run TypeScript.
 */
import { appendFileSync } from 'node:fs';
import { serveReadings } from '../../dist/connectors/reading/serve-readings.js';

const DEEDS = {
  LOOP() {
    for (;;);
  },
  /** Endless for any engine: the time doubles with each character. */
  PATTERN() {
    return /^(a|a)*$/.test(`${'a'.repeat(60)}b`);
  },
  /** Like a machine that has no time for it. */
  WAIT() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    return 'waited';
  },
  OBJECTS() {
    const all = [];
    for (;;) all.push({ all });
  },
  /** One large piece at a time: here the engine ends the process rather than the thread. */
  ARRAY() {
    const all = [];
    for (let index = 0; ; index += 1) all.push(index);
  },
  MAP() {
    const all = new Map();
    for (let index = 0; ; index += 1) all.set(index, index);
  },
  /** Outside the engine's heap. */
  BUFFERS() {
    const all = [];
    for (;;) all.push(Buffer.alloc(1024 * 1024, 1));
  },
  EXIT() {
    process.exit(3);
  },
  KILL() {
    process.kill(process.pid, 'SIGKILL');
    for (;;);
  },
  ABORT() {
    process.abort();
  },
  THROW() {
    throw new Error('as told');
  },
  RECURSE() {
    const deeper = () => deeper() + 1;
    return deeper();
  },
};

serveReadings(({ asked }) => {
  const text = asked.raw.bytes.toString();
  const [deed, path] = text.split('\n');
  // Reported in a file, because a process that ends can't report anything.
  if (path) appendFileSync(path, `${deed}\n`);
  return DEEDS[deed]?.() ?? text;
});
