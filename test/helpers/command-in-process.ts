/**
 * A command without a process of its own, for tests of what it does to the data: the program's process costs more than
 * most of them. Its arguments, signals and exit code as a user meets them are in test/cli and test/import/interrupted.
 */
import { runCommand } from '../../src/cli/run.ts';
import { createOutput } from '../../src/cli/output.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { CommandProcessOptions } from './command-process.ts';

export interface InProcessOptions extends CommandProcessOptions {
  /** Standard output is a terminal of so many columns. Default: it is none. */
  readonly columns?: number;
}

/** As `runCommand` of command-process.ts, but paths in `args` are absolute. */
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
