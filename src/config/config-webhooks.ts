/** The addresses to which events may be delivered, and how. */
import { isIP } from 'node:net';
import { LONGEST_LEASE_MS } from '../platform/base/leases.ts';
import { ConfigError } from './config-error.ts';
import { readNetworks } from './config-values.ts';
import { integer, milliseconds, variable } from './variable.ts';

/** A host name, with or without dots. */
const HOST =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

export const WEBHOOK_VARIABLES = {
  allow: variable('WEBHOOK_ALLOW', {
    parse: (value, name) => readTargets(name, value),
    defaultText: 'none',
    meaning:
      'Host names, addresses and networks, such as `crm.internal,10.1.0.0/16`, that webhooks may use although they are not ' +
      'public, also without TLS.',
  }),
  timeoutMs: milliseconds(
    'WEBHOOK_TIMEOUT_MS',
    15_000,
    'Maximum time for a request to an endpoint, including the connection, in ms.',
  ),
  leaseMs: integer(
    'WEBHOOK_LEASE_MS',
    30_000,
    { min: 500, max: LONGEST_LEASE_MS },
    'How long a process may be silent before another one delivers to its webhooks, in ms.',
  ),
};

function readTargets(name: string, text: string | null) {
  const entries = (text ?? '').split(',').flatMap((entry) => {
    const trimmed = entry.trim().toLowerCase().replace(/\.$/, '');
    return trimmed === '' ? [] : [trimmed];
  });
  const isNetwork = (entry: string) => isIP(entry.split('/')[0] ?? '') !== 0;
  const hosts = entries.filter((entry) => !isNetwork(entry));
  const wrong = hosts.find((host) => !HOST.test(host));
  if (wrong !== undefined)
    throw new ConfigError(name, `must be host names, addresses and networks, not ${wrong}`);
  const networks = entries.filter(isNetwork);
  return { hosts, networks: networks.length === 0 ? [] : readNetworks(name, networks.join(',')) };
}
