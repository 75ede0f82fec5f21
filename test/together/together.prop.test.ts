/** Everything at the same moment, on two services with one database: the laws that must hold in the end do hold. */
import { expect, it } from 'vitest';
import { createTestDatabase } from '../helpers/postgres.ts';
import { IS_ALL, IS_LONG } from '../helpers/runs.ts';
import { checkWorld } from './check-world.ts';
import { startWorld } from './world.ts';

/** Several seeds, separated by commas, to repeat a failure; the name of a test contains its seed. */
const SEEDS = (process.env['TOGETHER_SEEDS'] ?? (IS_ALL ? '1,2,3,4,5,6,7,8,9,10' : IS_LONG ? '1,2,3' : '1'))
  .split(',')
  .map(Number);
const OPERATIONS = Number(process.env['TOGETHER_OPERATIONS'] ?? 150);

it.each(SEEDS)('holds together, seed %i', async (seed) => {
  const database = await createTestDatabase();
  const world = await startWorld(database, seed);
  try {
    await world.run(OPERATIONS, 8);
    expect(await checkWorld(world, database)).toEqual([]);
  } finally {
    await world.stop();
    await database.drop();
  }
});
