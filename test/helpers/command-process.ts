/** A command as a user runs it: the built program in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));

export interface CommandProcess {
  readonly process: ChildProcess;
  /** Output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits for the end. Returns the exit code, or null if a signal ended the process. */
  ended(): Promise<number | null>;
}

export interface CommandProcessOptions {
  /** Also the working directory. */
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function startCommand(
  args: readonly string[],
  { dataDir, env }: CommandProcessOptions,
): CommandProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dataDir,
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  }
  const closed = once(child, 'close');
  return {
    process: child,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    async ended() {
      await closed;
      return child.exitCode;
    },
  };
}

/** Runs a command until it ends. */
export async function runCommand(
  args: readonly string[],
  options: CommandProcessOptions,
): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
  const command = startCommand(args, options);
  const exitCode = await command.ended();
  return { exitCode, stdout: command.stdout(), stderr: command.stderr() };
}
