/** A part of the composition root: what reads received mail. */
import { createReadingPool, type ReadingPool } from '../adapters/reading/reading-pool.ts';
import type { Logger } from '../app/base/basics.ts';
import type { Config } from '../config/config.ts';
import { findProgram } from './find-program.ts';

/** Where reading processes start from; scripts/bundle.mjs makes it. */
const PROGRAM = findProgram('child.js');

export function createReader({ reading }: Config, logger: Logger): ReadingPool {
  return createReadingPool({ ...reading, program: PROGRAM, logger });
}
