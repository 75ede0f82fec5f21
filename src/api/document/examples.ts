/**
 * Examples for the OpenAPI document, composed from field values (example-values.ts): so an answer shows every field of its schema, except
 * fields that exclude each other.
 */
import { codesOf } from '../../platform/schemas/error-schemas.ts';
import { EXAMPLE_VALUES } from './example-values.ts';
import { operationsOf, type Media, type Paths } from './components.ts';

/** Adds an example to each body and each answer but errors. Throws Error when a field has no value. */
export function addExamples(paths: Paths): void {
  for (const operation of operationsOf(paths)) {
    for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      for (const [type, media] of Object.entries<Media[string]>(content)) {
        // Those of errors follow in error-answers.ts.
        if (codesOf(media.schema) === null)
          media.example = exampleOf(media.schema, operation.operationId, type);
      }
    }
  }
}

interface Schema {
  readonly title?: string;
  /** The generator turns a `const` into this, with one value. */
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** `name` is the name of the field, with its title before it, or the media type. */
export function exampleOf(schema: Schema, operationId: string, name: string, title = ''): unknown {
  const keys = [
    `${operationId}.${title}.${name}`,
    `${operationId}.${name}`,
    `${title}.${name}`,
    name,
    schema.title ?? '',
  ];
  if (schema.enum?.length === 1) return schema.enum[0];
  const known = keys.find((key) => key in EXAMPLE_VALUES);
  if (known !== undefined) return EXAMPLE_VALUES[known];
  if (schema.items !== undefined) return [exampleOf(schema.items, operationId, '', title)];
  if (schema.type === 'boolean') return false;
  if (schema.type?.includes('null') === true) return null;
  const [form] = schema.anyOf ?? [];
  if (schema.properties === undefined && form !== undefined) return exampleOf(form, operationId, name, title);
  if (schema.properties === undefined) throw new Error(`no example for ${operationId}: ${title}.${name}`);
  const fields = Object.entries(schema.properties);
  return Object.fromEntries(
    fields
      .map(([field, inner]) => [field, exampleOf(inner, operationId, field, schema.title)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
