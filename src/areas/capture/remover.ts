/** The loop that carries out removals. */
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';
import { carryOutRemovals, type RemoveLeftOutPorts } from './remove-left-out.ts';

/** A removal that another process died of continues after its lease, and this time at the latest. */
const INTERVAL_MS = 1000;

export function startRemover(ports: RemoveLeftOutPorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'what the rules of an account leave out could not be removed yet; it goes on later',
    logger: ports.logger,
    run: (signal) => carryOutRemovals(ports, signal),
  });
}
