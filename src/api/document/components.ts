/**
 * Makes components of repeated parts of the OpenAPI document: schemas that have a `title`, parameters, header fields and answers.
 * Routes spell their schemas out, because Fastify validates with them and types are derived from them; the document contains each one once.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Right } from '../../core/keys/rights.ts';

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
    operations.flatMap(({ responses: own }) => spotsIn(own, (status) => answerName(own[status]))),
  );
  return { paths, components: { schemas, parameters, headers, responses } };
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

interface Spot {
  readonly owner: Node;
  readonly key: string;
  readonly name: string;
}

/** The places in `owner` whose values may be shared; `nameOf` returns null for those that may not. */
function spotsIn(owner: Node, nameOf: (key: string) => string | null): readonly Spot[] {
  return Object.keys(owner).flatMap((key) => {
    const name = nameOf(key);
    return name === null ? [] : { owner, key, name };
  });
}

/** Replaces values that occur in several spots with references, and returns the shared values by name. */
function shareRepeated(kind: string, spots: readonly Spot[]): Node {
  const shared: Node = {};
  const groups = new Map<string, Spot[]>();
  for (const spot of spots) {
    const says = spot.name + JSON.stringify(spot.owner[spot.key]);
    groups.set(says, [...(groups.get(says) ?? []), spot]);
  }
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined || group.length === 1) continue;
    // The name may be taken, for example by the id of something else.
    let name = first.name;
    for (let number = 2; name in shared; number += 1) name = `${first.name}${number}`;
    shared[name] = first.owner[first.key];
    for (const { owner, key } of group) owner[key] = { $ref: `#/components/${kind}/${name}` };
  }
  return shared;
}

/** The name of the component for an answer, its headers and example included: that of its schema, or else its description in CamelCase. */
function answerName(answer: Answer | undefined): string | null {
  const reference = answer?.content?.['application/json']?.schema['$ref'];
  if (typeof reference === 'string') return reference.split('/').pop() ?? null;
  const words = String(answer?.['description'] ?? '').match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('') || null;
}
