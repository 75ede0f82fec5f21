/** A folder in which a test starts embedded servers, and which leaves none of them running. */
import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readPidFile, terminate } from '../../src/connectors/embedded-postgres/postmaster.ts';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { type EmbeddedAnswer, type EmbeddedChildOptions, startEmbeddedChild } from './embedded-child.ts';
import { silentLogger } from './silent-logger.ts';
import { type TempFolder, makeTempFolder } from './temp-folder.ts';

type Ready = Extract<EmbeddedAnswer, { kind: 'ready' }>;

interface RunningChild extends Ready {
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface EmbeddedWorkspace {
  /** Every user of the machine may enter it. */
  readonly folder: string;
  readonly dataDir: string;
  /** Starts a process with an embedded server; fails if that does not start. Default `dataDir`: the one above. */
  start(options?: Partial<EmbeddedChildOptions>): Promise<RunningChild>;
  /** The same, for a start that must fail; returns the error message. */
  startInVain(options?: Partial<EmbeddedChildOptions>): Promise<string>;
  /** Starts a process without waiting for it. */
  launch(options?: Partial<EmbeddedChildOptions>): ReturnType<typeof startEmbeddedChild>;
  /** Data directories with a pid file in them. */
  listServed(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

/** A DATA_DIR with a database that no server serves: copying it is faster than creating one for each test. */
export async function createEmbeddedSeed(): Promise<TempFolder> {
  const temp = await makeTempFolder();
  const server = await startEmbeddedPostgres({ dataDir: temp.path, logger: silentLogger });
  await server.stop();
  return temp;
}

/** `seed`: initial contents of the default DATA_DIR; without it, that folder does not exist. */
export async function createEmbeddedWorkspace(seed?: TempFolder): Promise<EmbeddedWorkspace> {
  const temp = await makeTempFolder();
  await chmod(temp.path, 0o755);
  const dataDir = join(temp.path, 'data');
  // Keeps owners, and takes a third of the time of `fs.cp` for a thousand files.
  if (seed !== undefined) await promisify(execFile)('cp', ['-a', seed.path, dataDir]);
  const children: ReturnType<typeof startEmbeddedChild>[] = [];

  const launch: EmbeddedWorkspace['launch'] = (options) => {
    const child = startEmbeddedChild({ dataDir, ...options });
    children.push(child);
    return child;
  };
  const listServed = async () => {
    const entries = await readdir(temp.path, { recursive: true });
    return entries
      .filter((entry) => basename(entry) === 'postmaster.pid')
      .map((entry) => join(temp.path, dirname(entry)));
  };
  return {
    folder: temp.path,
    dataDir,
    launch,
    listServed,
    async start(options) {
      const child = launch(options);
      const answer = await child.answer;
      if (answer.kind !== 'ready') throw new Error(answer.message);
      return { ...answer, stop: child.stop, kill: child.kill };
    },
    async startInVain(options) {
      const answer = await launch(options).answer;
      if (answer.kind === 'ready') throw new Error('the server started, and should not');
      return answer.message;
    },
    async dispose() {
      await Promise.all(children.map((child) => child.kill()));
      for (const dataFolder of await listServed()) {
        const pidFile = await readPidFile(dataFolder);
        if (pidFile !== null) await terminate(pidFile.pid);
      }
      await temp.remove();
    },
  };
}
