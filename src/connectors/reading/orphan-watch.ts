/**
 * Ends this process when its parent is gone, whatever its main thread is doing: otherwise a killed service would leave a process that reads
 * for ever.
 */
import { Worker } from 'node:worker_threads';

const PARENT = process.ppid;
const LOOK_MS = 1000;
const PROGRAM = `
  const { workerData } = require('node:worker_threads');
  setInterval(() => {
    if (process.ppid !== workerData.parent) process.kill(process.pid, 'SIGKILL');
  }, workerData.lookMs);
`;

export interface OrphanWatch {
  /** False until the watch has begun, and where no thread can be started. */
  readonly isOn: boolean;
}

/** The thread takes 10 MB and some 40 ms to start, and then next to nothing. */
export function startOrphanWatch(): OrphanWatch {
  const watch = { isOn: false };
  const thread = new Worker(PROGRAM, { eval: true, workerData: { parent: PARENT, lookMs: LOOK_MS } });
  thread.unref();
  thread.on('online', () => (watch.isOn = true));
  thread.on('exit', () => (watch.isOn = false));
  // `exit` follows, and readings without a watch are still bounded (serve-readings.ts).
  thread.on('error', (error) => process.emitWarning(error));
  return watch;
}
