/**
 * The addresses of a host. Names are looked up at the name servers directly: `getaddrinfo` would occupy one of the few threads that also
 * read files, for as long as a slow name server likes. Names that the servers do not have may be in the hosts file.
 */
import { lookup, Resolver } from 'node:dns/promises';

export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Time limit of a query to one name server, in ms, and the number of tries. */
const RESOLVER = { timeout: 2000, tries: 2 };
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA', 'ENOENT']);

/** Rejects when no address is found. */
export const resolveHost: ResolveHost = async (host) => {
  const resolver = new Resolver(RESOLVER);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  for (const answer of answers) {
    if (answer.status === 'rejected' && !NOT_THERE.has(codeOf(answer.reason))) throw answer.reason;
  }
  return (await lookup(host, { all: true })).map(({ address }) => address);
};

const codeOf = (error: unknown): string => String(Object(error)['code']);
