/** The loop that carries out erasures. */
import { carryOutErasures, type CarryOutPorts } from './erase-people.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** An erasure that waits for a send continues after this time at the earliest. */
const INTERVAL_MS = 1000;

export function startEraser(
  ports: CarryOutPorts & { readonly requireCertainty: RequireCertainty },
): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'an erasure could not be carried out yet; it goes on later',
    logger: ports.logger,
    async run(signal) {
      // Before it claims an erasure, so that a process with the right time and files has it.
      await ports.requireCertainty();
      await carryOutErasures(ports, signal);
    },
  });
}
