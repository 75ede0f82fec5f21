/** `email-worker clock`: compares clocks, and confirms the database's after a jump. */
import { MAX_SKEW_MS } from '../app/base/clock-guard.ts';
import { defineCommand } from './command.ts';

export const clockCommand = defineCommand({
  name: 'clock',
  summary: "Compares the clock of this machine with the database's, and confirms the latter after a jump.",
  description:
    'What is due, expires or is deleted is decided by the clock of the database. When that steps forward by more than a day, nothing is ' +
    'deleted or forgotten until an operator confirms that the time is right, or the new time has lasted a day. The exit code is 1 while ' +
    'the clocks differ by more than a minute, or the jump is not confirmed. The service may run meanwhile.',
  arguments: [],
  options: {
    confirm: { type: 'boolean', meaning: 'The time of the database, as this command prints it, is right.' },
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
        `The database's clock stepped forward, from ${jump.expectedAt.toISOString()} to ${jump.jumpedAt.toISOString()}: nothing is ` +
          'deleted or forgotten. If its time is right, run it with --confirm',
      );
    } else if (before.jump !== null) output.print('confirmed');
    if (isSkewed)
      output.print(`The clocks differ by more than ${MAX_SKEW_MS / 1000} s: correct the wrong one`);
    return jump === null && !isSkewed ? 'done' : 'failed';
  },
});
