/** The DNS servers that a command asks. */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UsageError } from './command.ts';

/** How long a DNS server may take to answer, in ms, and the number of tries. */
const DNS_PATIENCE = { timeout: 5000, tries: 2 } as const;

/** @param servers addresses, each with an optional port; empty: those of the system. Throws UsageError. */
export function createResolver(servers: readonly string[]): Resolver {
  const resolver = new Resolver(DNS_PATIENCE);
  for (const server of servers) {
    const [, host = ''] = /^\[?([^\]]+?)\]?(?::\d{1,5})?$/.exec(server) ?? [];
    if (isIP(server) === 0 && isIP(host) === 0)
      throw new UsageError('--resolver must be an address, such as 1.1.1.1');
  }
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}
