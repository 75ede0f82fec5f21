/** Wires what judges the recorded mail of accounts by their rules, and removes what these leave out. */
import { createCaptures } from '../areas/capture/captures.ts';
import { createRecordedEmails } from '../areas/capture/recorded-store.ts';
import { createRemovalStore } from '../areas/capture/removal-store.ts';
import type { RemoveLeftOutPorts } from '../areas/capture/remove-left-out.ts';
import { startRemover } from '../areas/capture/remover.ts';
import { areKnownTo } from '../areas/mailboxes/known-to-account.ts';
import { readCapture } from '../config/config-capture.ts';
import { ConfigError } from '../config/config-error.ts';
import { ServiceError } from '../core/errors.ts';
import type { CaptureRules } from '../core/mailbox/capture.ts';
import type { Parts } from './open-parts.ts';

export function createCapturing(
  { pool, callers, patient, reader, registry, ids, logger }: Parts,
  ports: Pick<RemoveLeftOutPorts, 'blobs' | 'deleteFiles' | 'requireCertainty'>,
) {
  const shared = {
    ...ports,
    reader,
    logger,
    refresh: () => registry.refresh(),
    rules: registry.derived(() => new Map(registry.settings.map(({ id, capture }) => [id, capture]))),
  };
  const remover = startRemover({
    ...shared,
    recorded: createRecordedEmails(pool),
    areKnown: (accountId, messages) => areKnownTo(pool, accountId, messages),
    removals: createRemovalStore(pool, patient),
  });
  const captures = createCaptures({
    ...shared,
    recorded: createRecordedEmails(callers),
    areKnown: (accountId, messages) => areKnownTo(callers, accountId, messages),
    removals: createRemovalStore(callers, patient),
    directory: registry,
    readRules,
    ids,
    wake: remover.wake,
  });
  return { remover, captures };
}

/** Throws `invalid_account`. */
function readRules(capture: unknown): CaptureRules | null {
  try {
    return readCapture('capture', capture);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ServiceError('invalid_account', { values: { field: error.place }, details: error.reason });
  }
}
