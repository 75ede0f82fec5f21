/**
 * Makes components of repeated parts of the OpenAPI document: schemas that have a `title`, parameters, header fields and error answers.
 * Routes spell their schemas out, because Fastify validates with them and types are derived from them; the document contains each one once.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Right } from '../../../core/keys/rights.ts';
import { codesOf } from '../../../platform/schemas/error-schemas.ts';

export type Node = Record<string, unknown>;
export type Media = Record<string, { readonly schema: Node; example?: unknown; examples?: Node }>;
export type Answer = Node & { readonly content?: Media; readonly headers?: Node };

/** An operation as generated: everything is spelt out. */
export interface Operation extends Node {
  readonly operationId: string;
  readonly parameters?: { readonly name: string; readonly schema: Node }[];
  readonly requestBody?: { readonly content: Media };
  readonly responses: Record<string, Answer>;
  /** Empty: the operation is open to all. */
  readonly security?: readonly object[];
  readonly 'x-rights'?: readonly Right[];
  readonly 'x-any-right'?: readonly Right[];
}
export type Paths = Record<string, Record<string, Operation>>;

/** The right that its example of `forbidden_right` names; null: it needs none. */
export const rightOf = ({ 'x-rights': all, 'x-any-right': any }: Operation): Right | null =>
  [...(all ?? []), ...(any ?? [])][0] ?? null;

export function operationsOf(paths: Paths): readonly Operation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

/** The same paths with references, and the components that these refer to. Throws Error when two schemas have the same title. */
export function shareComponents(spelt: Paths) {
  const schemas: Node = {};
  const paths = nameSchemas(spelt, schemas) as Paths;
  const operations = operationsOf(paths);
  const answers = operations.flatMap((operation) => Object.values(operation.responses));

  const headers = shareRepeated(
    'headers',
    answers.flatMap((answer) => spotsIn(answer.headers ?? {}, (name) => name.replaceAll('-', ''))),
  );
  const parameters = shareRepeated(
    'parameters',
    operations.flatMap(({ parameters: list = [] }) =>
      spotsIn(list as unknown as Node, (index) => list[Number(index)]?.name ?? null),
    ),
  );
  const responses = shareRepeated(
    'responses',
    // The faults of a request differ by operation, and so do their examples.
    operations.flatMap((operation) =>
      spotsIn(operation.responses, (status, answer) =>
        status === '400'
          ? null
          : ofRight(
              errorName((answer as Answer).content?.['application/json']?.schema, operation, status),
              operation,
            ),
      ),
    ),
  );
  const errorsIn = (answer: Answer, nameOf: (schema: unknown) => Name) =>
    Object.values(answer.content ?? {}).flatMap((one) =>
      spotsIn(one, (key, schema) => (key === 'schema' ? nameOf(schema) : null)),
    );
  const errors = shareRepeated('schemas', [
    ...operations.flatMap((operation) =>
      Object.entries(operation.responses).flatMap(([status, answer]) =>
        errorsIn(answer, (schema) => errorName(schema, operation, status)),
      ),
    ),
    ...Object.entries(responses).flatMap(([name, answer]) =>
      errorsIn(answer as Answer, (schema) => (codesOf(schema) === null ? null : ofAnyRight(name))),
    ),
  ]);
  return { paths, components: { schemas: { ...schemas, ...errors }, parameters, headers, responses } };
}

/** A copy with a reference for each schema that has a title; the schemas are added to `schemas`. */
function nameSchemas(value: unknown, schemas: Node): unknown {
  if (Array.isArray(value)) return value.map((one) => nameSchemas(one, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const node: Node = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      // An example is not a schema, whatever its fields are called.
      key === 'example' || key === 'examples' ? inner : nameSchemas(inner, schemas),
    ]),
  );
  const { title, description, $comment, ...rest } = node;
  if (typeof title !== 'string') return node;
  const schema = $comment === undefined ? rest : { description: $comment, ...rest };
  if (!isDeepStrictEqual((schemas[title] ??= schema), schema))
    throw new Error(`two schemas are called ${title}`);
  const reference = { $ref: `#/components/schemas/${title}` };
  return description === undefined ? reference : { ...reference, description };
}

/** `equal`: only values with the same `equal` are shared. `name` is the component's name, taken from the first of them. */
type Name = { readonly equal: string; readonly name: string } | null;

interface Spot {
  readonly owner: Node;
  readonly key: string;
  readonly equal: string;
  readonly name: string;
}

/** The places in `owner` whose values may be shared; `nameOf` returns null for those that may not. */
function spotsIn(owner: Node, nameOf: (key: string, value: unknown) => Name | string): readonly Spot[] {
  return Object.keys(owner).flatMap((key) => {
    const name = nameOf(key, owner[key]);
    if (name === null) return [];
    return { owner, key, ...(typeof name === 'string' ? { equal: name, name } : name) };
  });
}

/** Replaces values that occur in several spots with references, and returns the shared values by name. */
function shareRepeated(kind: string, spots: readonly Spot[]): Node {
  const shared: Node = {};
  const groups = new Map<string, Spot[]>();
  for (const spot of spots) {
    const says = spot.equal + JSON.stringify(spot.owner[spot.key]);
    groups.set(says, [...(groups.get(says) ?? []), spot]);
  }
  for (const group of groups.values()) {
    const [first] = group;
    // The name may be taken, for example by a cursor of another length: then this value stays spelt out.
    if (first === undefined || group.length === 1 || first.name in shared) continue;
    shared[first.name] = first.owner[first.key];
    for (const { owner, key } of group) owner[key] = { $ref: `#/components/${kind}/${first.name}` };
  }
  return shared;
}

/** The maximum number of codes in the name of an error. */
const MAX_NAMED_CODES = 4;

/** Named after its codes, or after its first operation when it has many; null for the schema of anything but an error answer. */
function errorName(schema: unknown, { operationId }: Operation, status: string): Name {
  const codes = codesOf(schema);
  if (codes === null) return null;
  const equal = `${codes
    .map(inCamelCase)
    .join('Or')
    .replace(/Error$/, '')}Error`;
  const name = codes.length > MAX_NAMED_CODES ? `${inCamelCase(operationId)}${status}Error` : equal;
  return { equal, name };
}

/** An answer's example names the right that is missing, so there is one answer for each right. Its schema is the same. */
function ofRight(name: Name, operation: Operation): Name {
  const right = rightOf(operation);
  if (name === null || right === null) return name;
  return { ...name, name: name.name.replace('ForbiddenRight', `ForbiddenRightTo${inCamelCase(right)}`) };
}

function ofAnyRight(answer: string): Name {
  const name = answer.replace(/(ForbiddenRight)To[A-Z][a-z]+/, '$1');
  return { equal: name, name };
}

const inCamelCase = (text: string): string =>
  text.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
