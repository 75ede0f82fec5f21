/** `email-worker clock`: compares clocks, and confirms the database's after a jump. */
import { MAX_SKEW_MS } from '../platform/base/clock-guard.ts';
import { defineCommand } from './command.ts';

export const clockCommand = defineCommand({
  name: 'clock',
  summary:
    "Compares the clocks of this machine and of the database, and confirms the database's clock after a jump.",
  description:
    "The database's clock decides when things are due, expire or are deleted. After it jumps forward, by more than a day or while " +
    'a service runs, nothing is deleted or given up, and scheduled sends wait until they are due by the former time as well, until an ' +
    'operator confirms the time, or it has lasted as long as the jump, at most a day. The exit code is 1 while the clocks differ ' +
    'by more than a minute, or the jump is not confirmed. The service may run meanwhile.',
  arguments: [],
  options: {
    confirm: { type: 'boolean', meaning: "Confirms the database's time that this command prints." },
  },
  examples: [
    { line: 'clock', meaning: 'Shows both clocks.' },
    { line: 'clock --confirm', meaning: 'After a service was stopped for days, or a backup was restored.' },
  ],
  async run({ confirm = false }, _positionals, { output, open }) {
    const { guard } = await open();
    const before = await guard.measure();
    output.print(`database: ${before.databaseAt.toISOString()}`);
    output.print(`here: ${(before.offsetMs / 1000).toFixed(3)} s ahead of it`);
    const { jump, isSkewed } = confirm && before.jump !== null ? await guard.trust(null) : before;
    if (jump !== null) {
      output.print(
        `The database's clock jumped forward, from ${jump.expectedAt.toISOString()} to ${jump.jumpedAt.toISOString()}: nothing is ` +
          'deleted. If its time is right, run the command with --confirm',
      );
    } else if (before.jump !== null) output.print('confirmed');
    if (isSkewed)
      output.print(`The clocks differ by more than ${MAX_SKEW_MS / 1000} s: correct the wrong one`);
    return jump === null && !isSkewed ? 'done' : 'failed';
  },
});
