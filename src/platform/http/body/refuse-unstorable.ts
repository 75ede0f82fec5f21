/** The gate for what callers send: text with NUL or half of a surrogate pair is refused, and the field that contains it is named. */
import type { preHandlerHookHandler } from 'fastify';
import { ServiceError } from '../../../core/errors.ts';
import { findUnstorable } from '../../../core/storable-text.ts';

/** Throws `invalid_text`. For bodies that a handler reads itself; `path` stands before the field. */
export function refuseUnstorableIn(body: unknown, path: string): void {
  const field = findUnstorable(body);
  if (field !== null) throw new ServiceError('invalid_text', { values: { field: path + field } });
}

/** What the handlers of these routes find themselves: their errors have another form. */
const WITH_OWN_ERRORS: ReadonlySet<string> = new Set(['/mcp']);

/** For parameters, and for bodies that are read before the handler. Header fields can't have any. */
export const refuseUnstorable: preHandlerHookHandler = (request, _reply, done) => {
  const hasOwnErrors = WITH_OWN_ERRORS.has(request.routeOptions.url ?? '');
  const parts = request.is404 ? [] : [request.params, request.query, hasOwnErrors ? null : request.body];
  const field = parts.map((part) => (Buffer.isBuffer(part) ? null : findUnstorable(part))).find(Boolean);
  done(
    field === undefined ? undefined : new ServiceError('invalid_text', { values: { field: field ?? '' } }),
  );
};
