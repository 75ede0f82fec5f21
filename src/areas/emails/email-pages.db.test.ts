import { expect, it } from 'vitest';
import { mergePieces } from './email-pages.ts';

const merge = (rows: Parameters<typeof mergePieces>[3]) =>
  mergePieces(['select a', 'select b'], 's.id', 'order by s.date', rows);

it('bounds a page by the largest one, within what is asked for', () => {
  expect(merge('page')).toBe(
    'select s.id from (select s.id from ((select a limit 201) union all (select b limit 201)) s order by s.date limit 201) s ' +
      'order by s.date limit $limit',
  );
});

it('reads as many rows as any other bound says, whatever it is called', () => {
  for (const rows of ['$steps', '$limit'] as const) {
    expect(merge(rows)).toBe(
      `select s.id from ((select a limit ${rows}) union all (select b limit ${rows})) s order by s.date limit ${rows}`,
    );
  }
});
