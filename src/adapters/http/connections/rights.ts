/** The right that each secured operation needs, declared in the schema of its route beside `operationId`. */
import type { FastifySchema, RouteOptions } from 'fastify';
import type { Right } from '../../../core/keys/rights.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** What the caller must be allowed to do, all of it. Every secured route has at least one; see core/keys/rights.ts. */
    readonly right?: Right | readonly Right[];
  }
}

/** Every right that the route needs; empty for one that is open to all. */
export const rightsOf = (schema: FastifySchema | undefined): readonly Right[] => [schema?.right ?? []].flat();

/** Fastify's `onRoute` hook of secured routes. Throws TypeError for a route that declares no right: it would be open to every key. */
export function requireDeclaredRight({ method, url, schema }: RouteOptions): void {
  if (rightsOf(schema).length === 0)
    throw new TypeError(`${[method].flat().join(', ')} ${url} declares no right`);
}
