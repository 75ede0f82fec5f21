/** Turns the first validation error of parameters or a body into our error, with a German text. */
import type { FastifySchemaValidationError } from 'fastify';
import { invalidRequest, ServiceError, TYPE_SEPARATOR, TYPE_TEXTS } from '../../../core/errors.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { UUID_PATTERN } from '../schemas/schemas.ts';

type ValidationError = FastifySchemaValidationError & {
  readonly parentSchema?: { readonly properties?: object };
};

/** Fastify's `schemaErrorFormatter`. */
export function toValidationError(errors: readonly ValidationError[]): ServiceError {
  const [error] = errors;
  const field = error?.instancePath.slice(1) ?? '';
  const params: Readonly<Record<string, unknown>> = error?.params ?? {};
  const limit = String(params['limit']);
  switch (error?.keyword) {
    case 'additionalProperties':
      return unknownField(error, String(params['additionalProperty']));
    case 'pattern':
      if (params['pattern'] === UUID_PATTERN) return new ServiceError('invalid_uuid', { values: { field } });
      return invalidRequest('malformed', { field });
    case 'format':
      if (params['format'] === 'uuid') return new ServiceError('invalid_uuid', { values: { field } });
      return invalidRequest('not_a_moment', { field });
    case 'enum':
      return invalidRequest('not_one_of', { field, values: [params['allowedValues']].flat().join(', ') });
    case 'minimum':
      return invalidRequest('too_small', { field, limit });
    case 'maximum':
      return invalidRequest('too_large', { field, limit });
    case 'minLength':
      return invalidRequest('empty', { field });
    case 'maxLength':
      return invalidRequest('too_long', { field, limit });
    case 'minItems':
      return invalidRequest(limit === '1' ? 'no_entries' : 'too_few_entries', { field, limit });
    case 'maxItems':
      return invalidRequest('too_many_entries', { field, limit });
    case 'required':
      return invalidRequest('missing', { field: String(params['missingProperty']) });
    case 'type':
      return invalidRequest('wrong_type', { field, type: toTypeText([params['type']].flat().map(String)) });
    default:
      return invalidRequest('malformed', { field });
  }
}

/** `verbose` validation includes the schema of the object. */
function unknownField({ instancePath, parentSchema }: ValidationError, name: string): ServiceError {
  const path = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}.`;
  return unknownName('unknown_field', name, Object.keys(parentSchema?.properties ?? {}), path);
}

/** The types that a value may have; that it may be null goes without saying. */
export function toTypeText(types: readonly string[]): string {
  const texts = types.filter((type) => type !== 'null').map((type) => TYPE_TEXTS[type] ?? type);
  return texts.join(TYPE_SEPARATOR);
}
