/** A part of the composition root: the reader of received mail. */
import { createReadingPool, type ReadingPool } from '../adapters/reading/reading-pool.ts';
import type { Logger } from '../app/base/basics.ts';
import type { Config } from '../config/config.ts';
import { findProgram } from './find-program.ts';

/** The program of reading processes; scripts/bundle.mjs makes it. */
const PROGRAM = findProgram('child.js');

export function createReader({ reading }: Config, logger: Logger): ReadingPool {
  return createReadingPool({ ...reading, program: PROGRAM, logger });
}
