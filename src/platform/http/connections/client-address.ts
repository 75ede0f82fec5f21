/** The address of the client, for counts and for the security log; never for granting a right. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { addressGroup } from '../../../core/edge/address-group.ts';

/**
 * The group of the client's address; behind a trusted proxy, of the address that the proxy puts in X-Forwarded-For. Anything there that is
 * not an address counts as the proxy's address.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return addressGroup(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip);
}
