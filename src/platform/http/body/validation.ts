/** Turns validation errors of parameters or a body into ours, with a German text. */
import type { FastifySchemaValidationError } from 'fastify';
import { anyOfTexts, typeText, type Words } from '../../../core/error-words.ts';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import { ONE_LINE_PATTERN, TRIMMED_LINE_PATTERN } from '../../../core/one-line.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { fieldPath } from '../../../core/storable-text.ts';
import { UUID_PATTERN } from '../../schemas/schemas.ts';

const LINE_PATTERNS: ReadonlySet<string> = new Set([ONE_LINE_PATTERN, TRIMMED_LINE_PATTERN]);

export type ValidationError = FastifySchemaValidationError & {
  readonly parentSchema?: { readonly properties?: object };
};

/** Fastify's `schemaErrorFormatter`: of the first mistake, all that a validator reports which stops there. */
export function toValidationError(errors: readonly ValidationError[]): ServiceError {
  return toServiceError(closestOf(errors));
}

/** Each of them is compared with the others. */
const MAX_ERRORS = 500;

/** The mistakes in all errors of a part. */
export function* toValidationErrors(all: readonly ValidationError[]): Generator<ServiceError> {
  const errors = all.slice(0, MAX_ERRORS);
  for (let at = 0; at < errors.length; at += 1) {
    // The errors of the forms of a value come before that of the value.
    const end = endOfForms(errors, at);
    if (end === null) yield toServiceError(errors[at]);
    else yield* ofMeantForm(errors.slice(at, end), errors[end]);
    at = end ?? at;
  }
}

/** Of a value with several forms: the index of the `anyOf` error that follows those of its forms; null when `errors[at]` is of no form. */
function endOfForms(errors: readonly ValidationError[], at: number): number | null {
  const outer = errors.findLastIndex(
    ({ keyword, schemaPath }, index) =>
      index >= at && keyword === 'anyOf' && errors[at]?.schemaPath.startsWith(`${schemaPath}/`) === true,
  );
  return outer === -1 ? null : outer;
}

function* ofMeantForm(
  ofForms: readonly ValidationError[],
  whole: ValidationError | undefined,
): Generator<ServiceError> {
  const closest = closestOf(ofForms);
  if (closest === undefined) yield toServiceError(whole);
  else {
    const form = formOf(closest, whole);
    yield* toValidationErrors(ofForms.filter(({ schemaPath }) => schemaPath.startsWith(form)));
  }
}

/** `#/properties/a/anyOf/0/` for an error in it. */
function formOf({ schemaPath }: ValidationError, whole: ValidationError | undefined): string {
  const before = `${whole?.schemaPath ?? ''}/`;
  const [index = ''] = schemaPath.slice(before.length).split('/');
  return `${before}${index}/`;
}

function toServiceError(error: ValidationError | undefined): ServiceError {
  const field = toField(error?.instancePath ?? '');
  const params: Readonly<Record<string, unknown>> = error?.params ?? {};
  const limit = String(params['limit']);
  switch (error?.keyword) {
    case 'additionalProperties':
      return unknownField(error, String(params['additionalProperty']));
    case 'pattern':
      if (params['pattern'] === UUID_PATTERN) return new ServiceError('invalid_uuid', { values: { field } });
      if (LINE_PATTERNS.has(String(params['pattern']))) return invalidRequest('not_one_line', { field });
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
      return invalidRequest('missing', { field: fieldPath(field, String(params['missingProperty'])) });
    case 'type':
      return invalidRequest('wrong_type', { field, type: toTypeText([params['type']].flat().map(String)) });
    default:
      return invalidRequest('malformed', { field });
  }
}

/** Of a value that may have several forms, each form has an error: the one with another type than the value is not the form that was meant. */
const closestOf = (errors: readonly ValidationError[]): ValidationError | undefined =>
  errors.find((one) => one.keyword !== 'type' || !errors.some((other) => isCloser(other, one))) ?? errors[0];

const isCloser = (other: ValidationError, { instancePath }: ValidationError): boolean =>
  other.keyword !== 'type' && other.keyword !== 'anyOf' && other.instancePath.startsWith(instancePath);

/** `/addresses/0/origin` is the field `addresses[0].origin`. */
const toField = (instancePath: string): string =>
  instancePath
    .slice(1)
    .split('/')
    .reduce((path, key) => fieldPath(path, /^\d+$/.test(key) ? Number(key) : key), '');

/** `verbose` validation includes the schema of the object. */
function unknownField({ instancePath, parentSchema }: ValidationError, name: string): ServiceError {
  const path = instancePath === '' ? '' : `${toField(instancePath)}.`;
  return unknownName('unknown_field', name, Object.keys(parentSchema?.properties ?? {}), path);
}

/** The types that a value may have; that it may be null goes without saying. */
export function toTypeText(types: readonly string[]): Words {
  return anyOfTexts(types.filter((type) => type !== 'null').map(typeText));
}
