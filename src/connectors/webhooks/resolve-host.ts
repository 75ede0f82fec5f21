/**
 * The addresses of a host. Names are looked up at the name servers directly: `getaddrinfo` would occupy one of the few threads that also
 * read files, for as long as a slow name server likes.
 */
import { lookup, Resolver } from 'node:dns/promises';

export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Time limit of a query to one name server, in ms, and the number of tries. */
const RESOLVER = { timeout: 2000, tries: 2 };
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA', 'ENOENT']);

/** For names that operators chose: those that the servers do not have may be in the hosts file. Rejects when no address is found. */
export const resolveHost: ResolveHost = async (host) => {
  const found = await ask(host);
  return found.length > 0 ? found : (await lookup(host, { all: true })).map(({ address }) => address);
};

/**
 * For names that strangers chose, whose name servers could say that there is no such name, and then leave `getaddrinfo` waiting, with
 * everything that connects by name. Rejects when no address is found.
 */
export const resolvePublicName: ResolveHost = async (host) => {
  const found = await ask(host);
  if (found.length === 0) throw Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' });
  return found;
};

/** Nothing: the servers do not have the name. */
async function ask(host: string): Promise<readonly string[]> {
  const resolver = new Resolver(RESOLVER);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  for (const answer of answers) {
    if (answer.status === 'rejected' && !NOT_THERE.has(codeOf(answer.reason))) throw answer.reason;
  }
  return [];
}

const codeOf = (error: unknown): string => String(Object(error)['code']);
