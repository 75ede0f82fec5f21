/** Text that PostgreSQL can't store, in the parameters of statements. */
import { expect, it } from 'vitest';
import { sqlSources } from '../../../test/helpers/sources.ts';
import { call, statement, type Executor, run } from './statement.ts';

/** JSON that is no parameter of a statement, or one that keeps what its writer wrote. */
const NO_PARAMETER = [
  'areas/backup/snapshot.ts',
  'areas/customers/find-by-rule.ts',
  'areas/drafts/draft-store.ts',
  'areas/receive/reparse-store.ts',
];

it('is replaced in texts and in lists of texts', async () => {
  const sent: unknown[] = [];
  const executor: Executor = {
    query: async ({ values }) => {
      sent.push(values);
      return { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
    },
  };
  const any = statement('test-storable' as never, 'select $one, $many, $bytes');
  const values = { one: 'a\0b\ud800', many: ['x\0', null, ['y\udc00']], bytes: Buffer.from([0]) };
  const expected = ['a\ufffdb\ufffd', ['x\ufffd', null, ['y\ufffd']], Buffer.from([0])];
  await run(executor, any as never, values as never);
  expect(sent).toEqual([expected]);
  expect(call(any as never, values as never).values).toEqual(expected);
});

it('is replaced in JSON: no store writes it in another way', () => {
  const files = sqlSources().filter(({ text }) => text.includes('JSON.stringify('));
  expect(files.map(({ file }) => file).sort()).toEqual(NO_PARAMETER);
});
