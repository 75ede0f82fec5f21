/** Types of rows follow from the schema: `RowOf` a statement, `JsonOf` a part of one. */
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';
import { sqlSources } from '../../../test/helpers/sources.ts';

interface Declared {
  readonly file: string;
  readonly name: string;
  /** Those of the declaration itself, not of the types that it refers to. */
  readonly properties: readonly string[];
}

const sources = sqlSources().filter(({ file }) => !file.startsWith('platform/db/migrations/'));

function declaredTypes(file: string, text: string): readonly Declared[] {
  const found: Declared[] = [];
  const propertiesOf = (members: readonly { type: string; key?: { type: string } }[]) =>
    members.flatMap(({ type, key }) =>
      type === 'TSPropertySignature' && key?.type === 'Identifier'
        ? [(key as unknown as { name: string }).name]
        : [],
    );
  new Visitor({
    TSInterfaceDeclaration({ id, body }) {
      found.push({ file, name: id.name, properties: propertiesOf(body.body) });
    },
    TSTypeAliasDeclaration({ id, typeAnnotation }) {
      const literals = 'types' in typeAnnotation ? typeAnnotation.types : [typeAnnotation];
      const properties = literals.flatMap((literal) =>
        literal.type === 'TSTypeLiteral' ? propertiesOf(literal.members) : [],
      );
      found.push({ file, name: id.name, properties });
    },
  }).visit(parseSync(file, text).program);
  return found;
}

/** With names in the style of PostgreSQL columns. */
const namesColumns = ({ properties }: Declared) => properties.some((name) => name.includes('_'));

it('no type of a row is written by hand, but for what a statement is narrowed to', () => {
  const types = sources
    // Contents of JSON columns: the application wrote them.
    .filter(({ file }) => file !== 'platform/db/column-types.ts')
    .flatMap(({ file, text }) => declaredTypes(file, text));
  expect(types.length).toBeGreaterThan(100);
  const all = sources.map(({ text }) => text).join('\n');
  const isNarrowing = (name: string) => new RegExp(`\\b(narrow<|extends)[^;{]*\\b${name}\\b`).test(all);
  const byHand = types
    .filter(namesColumns)
    .filter(({ name }) => !(name.endsWith('Columns') && isNarrowing(name)))
    .map(({ file, name }) => `${file}: ${name}`);
  expect(byHand).toEqual([]);
});

it('objects of JSON are made of columns that are checked', () => {
  const files = sources.filter(({ text }) => text.includes('json_build_object(')).map(({ file }) => file);
  expect(files).toEqual(['platform/db/json.ts']);
});
