/** Whose request it is, for counts and for the security log; never for a right. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { addressGroup } from '../../../core/edge/address-group.ts';

/**
 * The address of the client's group; behind a trusted proxy the one that the proxy names in X-Forwarded-For. What is no
 * address there counts as the proxy's.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return addressGroup(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip);
}
