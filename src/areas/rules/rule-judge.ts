/** The loop that has the rules judge received mail. Any number of processes may run it at the same moment. */
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';
import { judgeSome, type JudgePorts } from './judge-mail.ts';

/** Between two rounds; mail that waits is found by the watch for work. */
const INTERVAL_MS = 50;
/** After a round that failed. */
const RETRY_MS = 5000;

export function startRuleJudge(ports: JudgePorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    waitsForWake: true,
    failure: 'the rules on received mail can not be carried out; it is tried every 5 seconds',
    logger: ports.logger,
    async run(signal) {
      while (!signal.aborted && (await judgeSome(ports, signal)));
    },
  });
}
