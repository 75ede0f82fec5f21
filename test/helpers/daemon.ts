/** A server program that has child processes: started as a process group, waited for, and stopped down to the last process. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';

/** How long a server may take to start listening, or to end. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;

export interface Daemon {
  /** Resolves when a connection to the port of 127.0.0.1 is greeted with a line that begins with `greeting`. */
  waitForPort(port: number, greeting: string): Promise<void>;
  /** Ends the program and every process it started. */
  stop(): Promise<void>;
  /** The same with SIGKILL. */
  kill(): Promise<void>;
}

/** @param args must keep the program in the foreground */
export function startDaemon(program: string, args: readonly string[]): Daemon {
  // Detached: a group of its own, so that a server that signals its group does not hit the test.
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let failure: Error | null = null;
  child.on('error', (error) => {
    failure = error;
  });
  const ended = (): boolean => failure !== null || child.exitCode !== null || child.signalCode !== null;
  const signal = (name: NodeJS.Signals): void => {
    signalGroup(child.pid, name);
  };
  // A test run that ends early ends its servers too.
  const onExit = (): void => signal('SIGKILL');
  process.once('exit', onExit);

  const end = async (first: NodeJS.Signals): Promise<void> => {
    signal(first);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (groupExists(child.pid)) {
      if (Date.now() > deadline) signal('SIGKILL');
      await pause();
    }
    process.off('exit', onExit);
  };

  return {
    async waitForPort(port, greeting) {
      const deadline = Date.now() + START_TIMEOUT_MS;
      while (!(await greets(port, greeting))) {
        if (ended()) throw new Error(`${program} ended: ${output}`, { cause: failure });
        if (Date.now() > deadline) throw new Error(`${program} does not listen on port ${port}: ${output}`);
        await pause();
      }
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

function groupExists(pid: number | undefined): boolean {
  return signalGroup(pid, 0);
}

function greets(port: number, greeting: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const finish = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(START_TIMEOUT_MS, () => finish(false));
    socket.on('data', (chunk) => finish(chunk.toString().startsWith(greeting)));
    socket.on('error', () => finish(false));
    socket.on('end', () => finish(false));
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
