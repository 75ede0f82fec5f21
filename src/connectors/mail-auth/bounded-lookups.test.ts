import { expect, it } from 'vitest';
import { BoundedLookups } from './bounded-lookups.ts';

function counted(fails = false) {
  const asked: string[] = [];
  let now = 0;
  const lookups = new BoundedLookups(
    async (domain, type) => {
      asked.push(`${type} ${domain}`);
      if (fails) throw Object.assign(new Error('silent'), { code: 'ETIMEOUT' });
      return [[domain]];
    },
    () => now,
  );
  return { asked, lookups, pass: (ms: number) => (now += ms) };
}

it('asks once for what several messages need, and again later', async () => {
  const { asked, lookups, pass } = counted();
  const [first, second] = [lookups.ofCheck(), lookups.ofCheck()];
  expect(
    await Promise.all([first('A.test', 'TXT'), second('a.test', 'TXT'), first('a.test', 'A')]),
  ).toHaveLength(3);
  expect(asked).toEqual(['TXT a.test', 'A a.test']);
  pass(120_001);
  await lookups.ofCheck()('a.test', 'TXT');
  expect(asked).toHaveLength(3);
});

it('does not ask again at once where DNS is silent', async () => {
  const { asked, lookups } = counted(true);
  for (let message = 0; message < 5; message++) {
    await expect(lookups.ofCheck()('a.test', 'TXT')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  }
  expect(asked).toHaveLength(1);
});

it('gives one check so many look-ups and so much time', async () => {
  const { asked, lookups, pass } = counted();
  const many = lookups.ofCheck();
  const answers = await Promise.allSettled(
    Array.from({ length: 100 }, (_, index) => many(`${index}.test`, 'TXT')),
  );
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(40);
  expect(asked).toHaveLength(60);
  const slow = lookups.ofCheck();
  pass(10_001);
  await expect(slow('late.test', 'TXT')).rejects.toMatchObject({ code: 'ETIMEOUT' });
});
