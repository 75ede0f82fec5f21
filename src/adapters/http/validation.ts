/**
 * Turns the first complaint about path or query parameters into our error with a German text.
 */
import type { FastifySchemaValidationError } from 'fastify';
import { ServiceError } from '../../core/errors.ts';
import { UUID_PATTERN } from './schemas.ts';

const TYPES: Readonly<Record<string, string>> = {
  integer: 'eine ganze Zahl',
  string: 'eine Zeichenkette',
  array: 'eine Liste',
  object: 'ein Objekt',
  boolean: 'true oder false',
};

/** Fastify's `schemaErrorFormatter`. */
export function toValidationError(errors: readonly FastifySchemaValidationError[]): ServiceError {
  const [error] = errors;
  const field = error?.instancePath.slice(1) ?? '';
  const params: Readonly<Record<string, unknown>> = error?.params ?? {};
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
    case 'required':
      return invalid(`${String(params['missingProperty'])} fehlt.`);
    case 'type':
      return invalid(`${field} muss ${TYPES[String(params['type'])] ?? 'von anderem Typ'} sein.`);
    default:
      return invalid(field);
  }
}

function invalid(detail: string): ServiceError {
  return new ServiceError('invalid_request', { values: { detail } });
}
