/** Operations whose repeat would do a second thing: when their outcome is unknown, the answer is `commit_unknown`. */
import type { FastifySchema, RouteOptions } from 'fastify';
import { codesOf, errorResponse } from './error-schemas.ts';

/** An email that comes again is known by its identity, and an upload that no email names expires. */
const REPEATABLE: ReadonlySet<unknown> = new Set(['receiveEmail', 'createUpload']);

/** Any other method than POST may be repeated (RFC 9110 §9.2.2). */
export const mayBeUnknown = (method: string, schema: FastifySchema | undefined): boolean =>
  method === 'POST' && !REPEATABLE.has(Object(schema).operationId);

/** Fastify's `onRoute` hook: adds the code to the answers of such an operation. */
export function describeUnknownOutcome({ method, schema }: RouteOptions): void {
  if (!mayBeUnknown(String(method), schema)) return;
  const response = Object(schema?.response) as Record<number, object>;
  const { content } = Object(response[500]) as { content?: { 'application/json'?: { schema: unknown } } };
  const codes = codesOf(content?.['application/json']?.schema);
  if (codes !== null) response[500] = errorResponse(500, [...codes, 'commit_unknown' as const].sort());
}
