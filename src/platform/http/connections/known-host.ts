/**
 * Under which names the service may be asked. A page of a stranger whose name leads to this machine (DNS rebinding) is of the same origin as
 * the service for a browser, so only the name in the request gives it away.
 *
 * An address (192.0.2.1, [2001:db8::1]) can't be rebound, so probes and scrapes by address need no setting. Nor can a name that a certificate
 * of ours proved to the browser.
 */
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../../core/errors.ts';

/** For probes of load balancers and orchestrators; they reveal nothing. */
const OPEN_TO_ANY_HOST: ReadonlySet<string> = new Set(['/api/health', '/api/health/ready']);

/** Throws `unknown_host` for a request under another name. @param names in lower case, beside those of this machine */
export type HostCheck = (request: FastifyRequest) => void;

export function createHostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names);
  const isKnown = (host: string): boolean => {
    const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
    return (
      known.has(name) ||
      name === 'localhost' ||
      // RFC 6761 §6.3
      name.endsWith('.localhost') ||
      isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
    );
  };
  return (request) => {
    if (request.raw.socket instanceof TLSSocket || OPEN_TO_ANY_HOST.has(request.routeOptions.url ?? ''))
      return;
    // The name that a trusted proxy forwards, and the one of the request itself: only the proxy vouches for the former. HTTP/1.0 may have none.
    for (const host of [request.headers.host, request.host]) {
      if (host !== undefined && host !== '' && !isKnown(host))
        throw new ServiceError('unknown_host', { values: { value: host } });
    }
  };
}
