/**
 * Turns the first complaint about parameters or a body into our error with a German text.
 */
import type { FastifySchemaValidationError } from 'fastify';
import { ServiceError } from '../../../core/errors.ts';
import { UUID_PATTERN } from '../schemas/schemas.ts';

const TYPES: Readonly<Record<string, string>> = {
  integer: 'eine ganze Zahl',
  string: 'eine Zeichenkette',
  array: 'eine Liste',
  object: 'ein Objekt',
  boolean: 'true oder false',
};

/** Fastify's `schemaErrorFormatter`; `part` is where the value stood. */
export function toValidationError(
  errors: readonly (FastifySchemaValidationError & { readonly data?: unknown })[],
  part: string,
): ServiceError {
  const [error] = errors;
  const field = error?.instancePath.slice(1) ?? '';
  const params: Readonly<Record<string, unknown>> = error?.params ?? {};
  if (part === 'querystring' && field !== '' && Array.isArray(error?.data)) {
    return invalid(`${field} ist mehrfach angegeben.`);
  }
  switch (error?.keyword) {
    case 'additionalProperties':
      return new ServiceError('unknown_field', { values: { field: String(params['additionalProperty']) } });
    case 'pattern':
      if (params['pattern'] === UUID_PATTERN) return new ServiceError('invalid_uuid', { values: { field } });
      return invalid(`${field} hat nicht die verlangte Form.`);
    case 'format':
      if (params['format'] === 'uuid') return new ServiceError('invalid_uuid', { values: { field } });
      return invalid(`${field} muss ein Zeitpunkt der Form 2026-01-31T12:00:00Z sein.`);
    case 'enum':
      return invalid(
        `${field} muss einer dieser Werte sein: ${[params['allowedValues']].flat().join(', ')}.`,
      );
    case 'minimum':
      return invalid(`${field} muss mindestens ${String(params['limit'])} sein.`);
    case 'maximum':
      return invalid(`${field} darf höchstens ${String(params['limit'])} sein.`);
    case 'minLength':
      return invalid(`${field} darf nicht leer sein.`);
    case 'maxLength':
      return invalid(`${field} darf höchstens ${String(params['limit'])} Zeichen haben.`);
    case 'minItems':
      return invalid(`${field} muss mindestens ${entries(params['limit'])} haben.`);
    case 'maxItems':
      return invalid(`${field} darf höchstens ${entries(params['limit'])} haben.`);
    case 'required':
      return invalid(`${String(params['missingProperty'])} fehlt.`);
    case 'type':
      return invalid(`${field} muss ${toTypeText([params['type']].flat().map(String))} sein.`);
    default:
      return invalid(`${field} hat nicht die verlangte Form.`);
  }
}

/** What a value must be; that it may be null goes without saying. */
export function toTypeText(types: readonly string[]): string {
  const texts = types.filter((type) => type !== 'null').map((type) => TYPES[type] ?? 'von anderem Typ');
  return texts.join(' oder ');
}

function entries(limit: unknown): string {
  return limit === 1 ? 'einen Eintrag' : `${String(limit)} Einträge`;
}

function invalid(detail: string): ServiceError {
  return new ServiceError('invalid_request', { values: { detail } });
}
