/** Starts `embedded-child.mjs` and talks to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('embedded-child.mjs', import.meta.url));

export interface EmbeddedChildOptions {
  readonly dataDir: string;
  readonly fallbackFolder?: string;
  /** The user (and group) to run as; requires a test that runs as root. */
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export type EmbeddedAnswer =
  | {
      readonly kind: 'ready';
      readonly connection: { host: string; port: number; user: string; database: string };
      readonly tookMs: number;
    }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string };

export interface EmbeddedChild {
  /** Resolves with the answer of the process; rejects when it ends without one. */
  readonly answer: Promise<EmbeddedAnswer>;
  /** SIGTERM: ends the server in order. */
  stop(): Promise<void>;
  /** SIGKILL: leaves the server, if there is one, behind. */
  kill(): Promise<void>;
}

export function startEmbeddedChild({ env, ...options }: EmbeddedChildOptions): EmbeddedChild {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    cwd: '/',
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answer = readAnswer(child);
  // Callers need not wait for the answer of a process that is killed.
  answer.catch(() => {});
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return { answer, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

async function readAnswer(child: ChildProcess): Promise<EmbeddedAnswer> {
  if (child.stdout === null) throw new Error('the child has no output');
  for await (const line of createInterface({ input: child.stdout }))
    return JSON.parse(line) as EmbeddedAnswer;
  throw new Error('the child ended without an answer');
}
