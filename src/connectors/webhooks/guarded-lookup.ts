/** Name lookup that gives a connection nothing but permitted addresses: what is checked is what is connected to. */
import { isIP, type LookupFunction } from 'node:net';
import { plainHost } from './public-addresses.ts';
import type { ResolveHost } from './resolve-host.ts';

/** @param check throws for an address that may not be connected to */
export const guardedLookup =
  (resolve: ResolveHost, check: (address: string, host: string) => void): LookupFunction =>
  (host, lookupOptions, callback) => {
    resolve(plainHost(host))
      .then((addresses) => {
        const [first] = addresses;
        if (first === undefined) throw new Error(`${host} has no address`);
        // One forbidden address makes all of them suspect.
        for (const address of addresses) check(address, host);
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (lookupOptions.all === true) callback(null, found);
        else callback(null, first, isIP(first));
      })
      .catch((error: unknown) => callback(toError(error), ''));
  };

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
