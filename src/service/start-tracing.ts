/** A part of the composition root: traces, if the configuration names a collector. */
import { setTracer } from '../platform/base/tracing.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import type { Teardown } from './teardown.ts';

export async function startTracing(
  { tracing }: Pick<Config, 'tracing'>,
  logger: Logger,
  teardown: Teardown,
): Promise<void> {
  if (tracing === null) return;
  // Loaded only if traces are wanted: other services save the time and the memory of the SDK.
  const { createTracing } = await import('../connectors/telemetry/tracing.ts');
  const made = createTracing({ version: readVersion(), headers: tracing.headers, logger });
  setTracer(made);
  // Last of all, so that the rest of the teardown is traced, too.
  teardown.unshift(async () => {
    setTracer(null);
    await made.close();
  });
  logger.info({}, 'traces are sent to the collector');
}
