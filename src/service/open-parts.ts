/** A part of the composition root: everything that a service opens in a locked DATA_DIR, and what depends on it. */
import { setTimeout as wait } from 'node:timers/promises';
import { loadOrCreateInstanceId } from '../connectors/data-dir/instance-id.ts';
import { createDueWork } from '../areas/work/due-work.ts';
import { createTokenStore } from '../areas/accounts/oauth2-tokens.ts';
import type { Meter } from '../platform/base/meter.ts';
import type { MailboxSource } from '../areas/mailboxes/mailbox-ports.ts';
import type { SentMailboxes } from '../areas/sent-copies/sent-copy-ports.ts';
import type { MessageReader } from '../platform/reading/reading-ports.ts';
import { UnreadableMail } from '../platform/reading/unreadable-mail.ts';
import type { ClockGuard } from '../platform/base/clock-guard.ts';
import type { Account, Clock, IdSource, Logger } from '../platform/base/basics.ts';
import type { Config } from '../config/config.ts';
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { createImapSource } from '../connectors/imap/mailbox-source.ts';
import { untilThere } from '../platform/db/until-there.ts';
import { AccountRegistry, openStoredAccounts } from './account-registry.ts';
import { tokenAccounts } from './create-access-tokens.ts';
import { imapAccounts } from './create-mailbox-source.ts';
import { startAccountWatch } from '../areas/accounts/account-watch.ts';
import { createClockGuard } from './create-clock-guard.ts';
import { createReader } from './create-reader.ts';
import { createTransports, type Transports } from './create-transports.ts';
import type { CutOff } from './cut-off.ts';
import { createIdSource } from './id-source.ts';
import { openStorage, type OpenStorage } from './open-storage.ts';
import { WorkWatch } from '../areas/work/work-watch.ts';
import type { Teardown } from './teardown.ts';

/** How long the start waits for the storage to show its identity, in ms. */
const STORAGE_PATIENCE_MS = 2_000;

export interface Parts extends OpenStorage {
  readonly config: Config;
  readonly logger: Logger;
  /** The database's time. */
  readonly clock: Clock;
  readonly guard: ClockGuard;
  readonly ids: IdSource;
  /** Identifies this DATA_DIR. */
  readonly instanceId: string;
  /** Those that work here, and those that don't. */
  readonly registry: AccountRegistry;
  readonly stored: Awaited<ReturnType<typeof openStoredAccounts>>;
  /** As use cases see them: the same map for ever, which follows what is stored. */
  readonly accounts: ReadonlyMap<string, Account>;
  readonly transports: Transports;
  readonly mailboxSource: MailboxSource & SentMailboxes;
  readonly reader: MessageReader;
  readonly unreadable: UnreadableMail;
  /** For the metrics. Default: for a service without them. */
  readonly meter?: Meter;
  /** Wakes the loops; begins when all of them exist. */
  readonly watch: WorkWatch;
}

/**
 * Throws when a part can't be opened.
 *
 * @param signal ends the wait for the database; see `openDatabase`
 */
export async function openParts(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  cutOff: CutOff,
  signal: AbortSignal | undefined,
): Promise<Parts> {
  // Finds mistakes in the configuration before anything large is started.
  const registry = new AccountRegistry(config, logger);
  const tokens = createAccessTokens([], logger);
  const transports = createTransports(config, tokens, logger);
  teardown.push(() => transports.close());
  cutOff.add(transports);
  const mailboxSource = createImapSource([], tokens);
  registry.follow(() => {
    tokens.follow(tokenAccounts(registry.settings));
    transports.follow(registry.settings);
    mailboxSource.follow(imapAccounts(registry.settings));
  });
  const reader = createReader(config, logger);
  teardown.push(() => reader.close());
  const storage = await openStorage(config, logger, teardown, { cutOff, signal });
  // Most storages answer at once; until one has, only what needs no files is done.
  await Promise.race([
    storage.ownStorage.look().catch(() => undefined),
    wait(STORAGE_PATIENCE_MS, undefined, { ref: false }),
  ]);
  tokens.keepIn(createTokenStore(storage.pool));
  teardown.push(() => tokens.close());
  const stored = await untilThere(() => openStoredAccounts(registry, config, storage.pool), {
    logger,
    signal,
  });
  const accountWatch = startAccountWatch(registry, config.workPollMs, logger);
  teardown.push(() => accountWatch.stop());
  const instanceId = await loadOrCreateInstanceId(config.dataDir);
  const guard = createClockGuard(storage.pool, instanceId, logger);
  // The loop tries again.
  await guard.measure().catch((err: unknown) => {
    signal?.throwIfAborted();
    logger.warn({ err }, 'the clock of this process could not be compared with that of the database');
  });
  const dueWork = createDueWork(
    storage.pool,
    registry.derived(() => ({
      sending: registry.working.map(({ id }) => id),
      keepingCopies: registry.keepingCopies,
      reading: registry.working.flatMap(({ id, imap }) => (imap === null ? [] : [id])),
    })),
  );
  const watch = new WorkWatch(dueWork, { pollMs: config.workPollMs, logger });
  watch.on('accounts', accountWatch.wake);
  return {
    ...storage,
    config,
    logger,
    clock: guard.clock,
    guard,
    ids: createIdSource(),
    instanceId,
    registry,
    stored,
    accounts: registry.accounts,
    transports,
    mailboxSource,
    reader,
    unreadable: new UnreadableMail(),
    watch,
  };
}
