/** A part of the composition root: finds the servers of a mailbox. Loaded when it is first asked for, which saves the memory of its lists. */
import { Resolver } from 'node:dns/promises';
import { guardedLookup } from '../connectors/webhooks/guarded-lookup.ts';
import { requirePublic } from '../connectors/webhooks/public-addresses.ts';
import { resolvePublicName } from '../connectors/webhooks/resolve-host.ts';
import type { FindAccountSettings } from '../areas/accounts/account-ports.ts';

/** Time limit of a query to one name server, in ms, and the number of tries. */
const RESOLVER = { timeout: 2000, tries: 2 };

/** @param dnsServers empty: those of the system */
export function findSettings(dnsServers: readonly string[]): FindAccountSettings {
  let finding: Promise<FindAccountSettings> | null = null;
  const load = async (): Promise<FindAccountSettings> => {
    const { createFindSettings } = await import('../connectors/mail-settings/find-settings.ts');
    return createFindSettings({
      createResolver() {
        const resolver = new Resolver(RESOLVER);
        if (dnsServers.length > 0) resolver.setServers(dnsServers);
        return resolver;
      },
      lookup: guardedLookup(resolvePublicName, requirePublic),
      checkAddress: requirePublic,
    });
  };
  return async (address, signal) => (await (finding ??= load()))(address, signal);
}
