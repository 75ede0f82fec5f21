/** The rights that each secured operation needs, declared in the schema of its route beside `operationId`. */
import type { FastifySchema, RouteOptions } from 'fastify';
import { allows, type Right } from '../../../core/keys/rights.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Rights that the caller must have, all of them. Every secured route has this or `anyRight`; see core/keys/rights.ts. */
    readonly right?: Right | readonly Right[];
    /** Rights of which the caller needs only one. */
    readonly anyRight?: readonly Right[];
  }
}

/** Every right that the route needs; empty when one of several is enough, or none is needed. */
export const rightsOf = (schema: FastifySchema | undefined): readonly Right[] => [schema?.right ?? []].flat();

/** Rights of which the route needs one; empty when the route has no such choice. */
export const anyRightOf = (schema: FastifySchema | undefined): readonly Right[] => schema?.anyRight ?? [];

/** False for a route that is open to all. */
export const needsRight = (schema: FastifySchema | undefined): boolean =>
  rightsOf(schema).length + anyRightOf(schema).length > 0;

/** The right that a caller lacks, or several of which it needs one, the least first. Empty: the caller may use the route. */
export function missingRights(rights: readonly Right[], schema: FastifySchema | undefined): readonly Right[] {
  const missing = rightsOf(schema).find((right) => !allows(rights, right));
  if (missing !== undefined) return [missing];
  const any = anyRightOf(schema);
  return any.some((right) => allows(rights, right)) ? [] : any;
}

/**
 * Fastify's `onRoute` hook of secured routes. Throws TypeError for a route that declares no right, which would be open to every key, and for one
 * without a declared operation: no account rule would apply to it, and its acts would not be logged.
 */
export function requireDeclaredRight({ method, url, schema }: RouteOptions): void {
  const route = `${[method].flat().join(', ')} ${url}`;
  if (!needsRight(schema)) throw new TypeError(`${route} declares no right`);
  if (schema?.operation === undefined && schema?.hide !== true)
    throw new TypeError(`${route} has no declared operation`);
}
