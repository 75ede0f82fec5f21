/**
 * A command without a process of its own, for tests of its effect on the data: starting a process costs more than most of them. test/cli
 * and test/import/interrupted check its arguments, signals and exit code as a user sees them.
 */
import { runCommand } from '../../src/cli/run.ts';
import { createOutput } from '../../src/cli/output.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { CommandProcessOptions } from './command-process.ts';

export interface InProcessOptions extends CommandProcessOptions {
  /** Standard output is a terminal with this many columns. Default: not a terminal. */
  readonly columns?: number;
}

/** Like `runCommand` of command-process.ts, but paths in `args` are absolute. */
export async function runCommandInProcess(
  args: readonly string[],
  { dataDir, env, columns }: InProcessOptions,
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const streamTo = (name: keyof typeof written) => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      written[name] += String(text);
      return true;
    },
  });
  const exitCode = await runCommand(
    args,
    createOutput(
      columns === undefined ? streamTo('stdout') : { ...streamTo('stdout'), isTTY: true, columns },
      streamTo('stderr'),
      env,
    ),
    () => loadConfig({ DATA_DIR: dataDir, ...env }, dataDir),
    'email-worker',
  );
  return { exitCode, ...written };
}
