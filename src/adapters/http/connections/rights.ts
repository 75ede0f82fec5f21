/** The right that each secured operation needs, declared in the schema of its route beside `operationId`. */
import type { RouteOptions } from 'fastify';
import type { Right } from '../../../core/keys/rights.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** What the caller must be allowed to do. Every secured route has one; see core/keys/rights.ts. */
    readonly right?: Right;
  }
}

/** Fastify's `onRoute` hook of secured routes. Throws TypeError for a route that declares no right: it would be open to every key. */
export function requireDeclaredRight({ method, url, schema }: RouteOptions): void {
  if (schema?.right === undefined)
    throw new TypeError(`${[method].flat().join(', ')} ${url} declares no right`);
}
