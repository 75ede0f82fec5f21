/** The loop that looks which storage of files this process reaches, and reports when it is not the right one. */
import type { Logger } from '../base/basics.ts';
import type { OwnStorage, StorageFault } from './own-storage.ts';
import { startLoop, type Loop } from '../base/loop.ts';

/** A process works again this long after its storage is back, in ms. */
const INTERVAL_MS = 5_000;

export interface StorageWatchPorts {
  readonly storage: Pick<OwnStorage, 'look' | 'fault'>;
  readonly noteFault: (fault: StorageFault | null) => Promise<void>;
  readonly logger: Logger;
}

export function startStorageWatch({ storage, noteFault, logger }: StorageWatchPorts): Loop {
  // An earlier process may have left a fault.
  let noted: string | null | undefined;
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'the storage of files could not be checked',
    logger,
    async run() {
      try {
        await storage.look();
      } catch (error) {
        // A fault of the storage is logged when it begins.
        if (storage.fault === null) throw error;
      }
      const code = storage.fault?.code ?? null;
      if (code === noted) return;
      await noteFault(storage.fault);
      noted = code;
    },
  });
}
