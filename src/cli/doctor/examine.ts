/** Runs all checks of the doctor on one configuration. */
import type { Logger } from '../../platform/base/basics.ts';
import type { Config } from '../../config/config.ts';
import { createResolver } from '../resolver.ts';
import { checkSafety, checkUnusable, checkVariables } from './check-configuration.ts';
import { checkDataFolder, checkJournal } from './check-data-folder.ts';
import { checkDatabase } from './check-database.ts';
import { checkDns } from './check-dns.ts';
import { checkListeners } from './check-listeners.ts';
import { checkMailServers } from './check-mail-servers.ts';
import { checkProgram } from './check-program.ts';
import { checkStorage } from './check-storage.ts';
import { checkWork } from './check-work.ts';
import { openPatientData } from './patient-data.ts';
import { runChecks, type AreaFinding } from './run-checks.ts';
import { withoutSecrets } from '../../service/without-secrets.ts';

export interface Circumstances {
  /** Names of the variables that are set. */
  readonly set: readonly string[];
  /** DNS servers; empty: those of the configuration. */
  readonly resolver: readonly string[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** @param config a text says what is wrong with it when it can't be read */
export async function examine(
  config: Config | string,
  { set, resolver, logger, signal }: Circumstances,
): Promise<readonly AreaFinding[]> {
  if (typeof config === 'string') {
    return await runChecks([checkUnusable(config), checkVariables(set, new Set()), checkProgram()], signal);
  }
  // A check that fails is a finding, and is reported as one.
  const quiet = { ...logger, warn: logger.debug, error: logger.debug };
  const data = await openPatientData(config, quiet, signal);
  const servers = resolver.length > 0 ? resolver : config.senderCheck.dnsServers;
  try {
    const findings = await runChecks(
      [
        checkVariables(set, config.askedVariables),
        checkSafety(config),
        checkProgram(),
        checkDataFolder(config, data),
        checkDatabase(config, data),
        checkStorage(config, data),
        ...checkMailServers(config, data, quiet),
        ...checkDns(config.accounts, () => createResolver(servers)),
        ...checkListeners(config, data),
        checkJournal(config, data, quiet),
        checkWork(config, data),
      ],
      signal,
    );
    return findings.map(withoutSecrets(config));
  } finally {
    await data.close();
  }
}
