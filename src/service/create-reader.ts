/**
 * A part of the composition root: the reader of received mail, and of what callers ask for.
 *
 * Mail and callers have processes of their own: nothing that a caller asks for can delay mail, however much of it there is. The processes
 * for callers also have a lower priority.
 */
import { createReadingPool, type ReadingPool } from '../connectors/reading/reading-pool.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { ReadingKind } from '../platform/reading/reading-ports.ts';
import type { Config } from '../config/config.ts';
import { findProgram } from './find-program.ts';

/** The program of reading processes; scripts/bundle.mjs makes it. */
const PROGRAM = findProgram('child.js');

/** What receiving a mail needs; the rest is for callers, who may ask for it as often as they like. */
const IS_FOR_MAIL: Readonly<Record<ReadingKind, boolean>> = {
  message: true,
  fields: true,
  header: true,
  headerFields: true,
  headers: true,
  sameEmail: true,
  isCopy: true,
  choice: true,
  html: false,
  safeHtml: false,
  forwardHtml: false,
  templateCheck: false,
  template: false,
};

/**
 * Mail from strangers that is slow to read yields to the service and its database, which answer requests: it gets about a third of their
 * share. What callers ask for gets a third of that.
 */
const MAIL_NICENESS = 5;
const CALLERS_NICENESS = 10;

/** Mail comes in floods, and nearly all of it takes less than a millisecond. What callers ask for may take seconds, and waits for nothing else. */
const MAIL_LOAD = 8;
const CALLERS_LOAD = 1;

export function createReader({ reading }: Config, logger: Logger): ReadingPool {
  const common = { ...reading, program: PROGRAM, logger };
  const mail = createReadingPool({ ...common, niceness: MAIL_NICENESS, maxLoad: MAIL_LOAD });
  const callers = createReadingPool({ ...common, niceness: CALLERS_NICENESS, maxLoad: CALLERS_LOAD });
  return {
    read: (kind, asked, asker) => (IS_FOR_MAIL[kind] ? mail : callers).read(kind, asked, asker),
    async close() {
      await Promise.all([mail.close(), callers.close()]);
    },
  };
}
