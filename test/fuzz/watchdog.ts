/** Ends a process that is stuck in one input, from a separate thread, and writes the input to a file. */
import { Worker } from 'node:worker_threads';
import { MAX_BYTES } from './mutate.ts';

/** Longer than any deadline, so that inputs which are only slow are reported by the fuzz test itself. */
const STUCK_MS = 120_000;

const SCRIPT = `
  const { workerData } = require('node:worker_threads');
  const { writeFileSync } = require('node:fs');
  const state = new BigInt64Array(workerData.shared, 0, 2);
  setInterval(() => {
    const since = Number(Atomics.load(state, 0));
    if (since === 0 || Date.now() - since < ${STUCK_MS}) return;
    const length = Number(Atomics.load(state, 1));
    writeFileSync(workerData.file, Buffer.from(new Uint8Array(workerData.shared, 16, length)));
    process.stderr.write('a reader is stuck in ' + workerData.file + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }, 1000);
`;

export interface Watchdog {
  /** The reading of this input starts now. */
  begin(input: Buffer): void;
  stop(): Promise<void>;
}

/** @param file that the input is written to */
export function startWatchdog(file: string): Watchdog {
  const shared = new SharedArrayBuffer(16 + MAX_BYTES);
  const state = new BigInt64Array(shared, 0, 2);
  const worker = new Worker(SCRIPT, { eval: true, workerData: { shared, file } });
  return {
    begin: (input) => {
      new Uint8Array(shared, 16).set(input);
      Atomics.store(state, 1, BigInt(input.length));
      Atomics.store(state, 0, BigInt(Date.now()));
    },
    stop: async () => void (await worker.terminate()),
  };
}
