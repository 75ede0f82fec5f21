/**
 * The other mistakes of a request that is refused for one: an answer that lists all of them spares its caller a request for each. They are
 * looked for only then, and only in what has already arrived, so a right request costs nothing more and a body that was not read is not.
 */
import type { FastifyRequest } from 'fastify';
import type { ServiceError } from '../../../core/errors.ts';
import type { Logger } from '../../base/basics.ts';
import { withOtherMistakes, type Mistakes, type NoteMistake } from '../../../core/mistakes.ts';
import { noteOtherTypes } from '../body/json-body.ts';
import type { FullValidator } from '../body/lazy-validation.ts';
import { toValidationErrors } from '../body/validation.ts';

/** In the order in which Fastify validates them. */
const PARTS = [
  ['params', 'params'],
  ['body', 'body'],
  ['querystring', 'query'],
  ['headers', 'headers'],
] as const;

/**
 * Values within a part that is validated as a whole. The validator can't be told to stop, and makes an object for each of its errors: 90,000
 * of them took 13 ms. Of a larger part, only mistakes in names and types are listed.
 */
const MAX_VALUES = 20_000;

export type FindOtherMistakes = (error: ServiceError, request: FastifyRequest) => ServiceError;

/** See ClosedOperations. */
interface ClosedCheck {
  noteMistakes(request: FastifyRequest, note: NoteMistake): boolean;
}

/** Finds them for requests that came as far as the check of `closed`: without a secret, a request learns nothing more. */
export function createMistakeFinder(closed: ClosedCheck, logger: Logger): FindOtherMistakes {
  function find(request: FastifyRequest, mistakes: Mistakes): void {
    if (!closed.noteMistakes(request, mistakes.note)) return;
    mistakes.check(() => noteOtherTypes(request, mistakes.note));
    for (const [part, property] of PARTS) noteInvalid(request, part, request[property], mistakes);
  }
  return (error, request) => {
    try {
      return withOtherMistakes(error, (mistakes) => find(request, mistakes));
    } catch (err) {
      // The caller must still learn of the first.
      logger.error({ err, requestId: request.id }, 'the other mistakes of a request could not be found');
      return error;
    }
  };
}

function noteInvalid(
  request: FastifyRequest,
  part: (typeof PARTS)[number][0],
  value: unknown,
  { note }: Mistakes,
): void {
  const validate = request.getValidationFunction(part) as Partial<FullValidator> | undefined;
  if (validate?.all === undefined || value === undefined || value === null || !isSmall(value)) return;
  for (const mistake of toValidationErrors(validate.all(value))) note(mistake);
}

function isSmall(value: unknown): boolean {
  const rest: unknown[] = [value];
  let count = 0;
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const inner: readonly unknown[] = Object.values(one);
    count += inner.length;
    if (count > MAX_VALUES) return false;
    for (const next of inner) if (typeof next === 'object' && next !== null) rest.push(next);
  }
  return true;
}
