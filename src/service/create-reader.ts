/** A part of the composition root: what reads received mail. */
import { fileURLToPath } from 'node:url';
import { createReadingPool, type ReadingPool } from '../adapters/reading/reading-pool.ts';
import type { Logger } from '../app/base/basics.ts';
import type { Config } from '../config/config.ts';

/** Node 20 can't run TypeScript: where the sources run, as in tests, the built program does the reading. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../../dist/' : '../';
const PROGRAM = fileURLToPath(new URL(`${FOLDER}adapters/reading/child.js`, import.meta.url));

export function createReader({ reading }: Config, logger: Logger): ReadingPool {
  return createReadingPool({ ...reading, program: PROGRAM, logger });
}
