/** The gate for what callers send: text with NUL or half of a surrogate pair is refused, and the field that contains it is named. */
import type { preHandlerHookHandler } from 'fastify';
import { ServiceError } from '../../../core/errors.ts';
import { findUnstorable } from '../../../core/storable-text.ts';

/** For parameters, and for bodies that are read before the handler; handlers that read a body check its texts. Header fields can't have any. */
export const refuseUnstorable: preHandlerHookHandler = (request, _reply, done) => {
  const parts = request.is404 ? [] : [request.params, request.query, request.body];
  for (const part of parts) {
    const field = Buffer.isBuffer(part) ? null : findUnstorable(part);
    if (field !== null) {
      done(new ServiceError('invalid_text', { values: { field } }));
      return;
    }
  }
  done();
};
