/** The faults of one round overlap in every way: none of them may trip over another, nor blame the service for it. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { LIFE_FAULTS } from './faults.ts';
import { createRandom } from './random.ts';
import { ServiceNode } from './service-node.ts';
import { SmtpCounter } from './smtp-counter.ts';
import type { World } from './world.ts';

/** Stands for the service: ready after a moment, and it ends in order, but not at once. */
const PROGRAM = `
const server = require('node:http').createServer((request, response) => response.end());
setTimeout(() => server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.address().port, msg: 'email-worker is listening' }))), 20);
process.on('SIGTERM', () => setTimeout(() => process.exit(0), 60));
`;
const SEEDS = Array.from({ length: 6 }, (_, index) => index + 1);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let node: ServiceNode;
let smtp: SmtpCounter;
let deaths: string[];

beforeEach(async () => {
  folder = await makeTempFolder();
  deaths = [];
  const dataDir = join(folder.path, 'one');
  await mkdir(dataDir);
  const main = join(folder.path, 'main.cjs');
  await writeFile(main, PROGRAM);
  node = new ServiceNode({
    name: 'one',
    dataDir,
    main,
    env: {},
    logFile: join(folder.path, 'log'),
    onDeath: (reason) => void deaths.push(reason),
  });
  smtp = new SmtpCounter(join(folder.path, 'ledger'));
  await smtp.start();
});
afterEach(async () => {
  await node.dispose();
  await smtp.kill();
  await rm(folder.path, { recursive: true, force: true });
});

/** A world, as far as the faults of processes look at it. */
const worldOf = (): World =>
  ({
    setup: 'embedded',
    starver: null,
    nodes: [node],
    smtp,
    smtpLine: { target: null },
    database: { killPostmaster: async () => undefined },
  }) as unknown as World;

describe.skipIf(process.platform !== 'linux')('faults of one round', () => {
  it.each(SEEDS)('begin and end the same service at the same time, order %i', async (seed) => {
    expect(await node.start()).toBe(true);
    const random = createRandom(seed);
    const found = await Promise.all(
      LIFE_FAULTS.map(async (fault) => {
        await sleep(random.integer(0, 400));
        return fault.run(worldOf(), random);
      }),
    );
    expect(found.flat()).toEqual([]);
    expect(await node.start()).toBe(true);
    expect(deaths).toEqual([]);
  });

  it('start and kill the mail server at the same time', async () => {
    await smtp.kill();
    const started = smtp.start();
    await smtp.kill();
    await started;
    expect(smtp.running).toBe(false);
    await smtp.start();
    expect(smtp.running).toBe(true);
  });

  it('start a service once that two of them start', async () => {
    expect(await Promise.all([node.start(), node.start()])).toEqual([true, true]);
    expect((await node.terminate())?.code).toBe(0);
  });
});
