/**
 * The user that the server runs as. PostgreSQL refuses to run as root, so for root there are substitutes:
 *
 * - a user namespace in which root has another number. Its files stay root's, and it can enter every folder that root owns, closed or not.
 *   Containers usually forbid it (seccomp), and busybox' `unshare` can't do it.
 * - another account of the system: the owner of existing data, else `email-worker`, `postgres` or `nobody`.
 *
 * The service tries out which of them works and can reach the binaries and the data; nothing is assumed.
 */
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { readIfExists } from './file-system.ts';

/** A user to run programs as. */
export interface Identity {
  readonly kind: 'self' | 'namespace' | 'account';
  /** For the log. */
  readonly name: string;
  /** Owner of the files that it makes, as this process sees it. */
  readonly uid: number;
  readonly gid: number;
  /** False when `initdb` would fail, because it insists on a name for its uid. */
  readonly named: boolean;
  /** How to start a program as this user. */
  command(program: string, args: readonly string[]): Command;
}

interface Command {
  readonly file: string;
  readonly args: string[];
  readonly options: SpawnOptions;
}

interface SpawnOptions {
  readonly uid?: number;
  readonly gid?: number;
  /** Not our working directory: the other user may be unable to enter it. */
  readonly cwd: string;
  /** Not our environment: PGDATA, PGOPTIONS, LC_MESSAGES and the like must not reach the server. */
  readonly env: Readonly<Record<string, string>>;
}

/** An account of `/etc/passwd`. */
interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Preferred accounts, best first. An account of its own separates the data from all else; the others are common. */
const ACCOUNT_NAMES = ['email-worker', 'postgres', 'nobody'];

/**
 * The users to try, best first.
 *
 * @param dataOwner the owner of the existing database; null when there is none.
 * @param folderOwner the owner of DATA_DIR.
 */
export async function listIdentities(
  dataOwner: Owner | null,
  folderOwner: Owner,
): Promise<readonly Identity[]> {
  const users = parsePasswd((await readIfExists('/etc/passwd')) ?? '');
  const namespace = process.platform === 'linux' ? inNamespace(users) : [];
  if (process.geteuid?.() !== 0) return [asSelf(), ...namespace];
  const preferred = ACCOUNT_NAMES.flatMap((name) => users.filter((user) => user.name === name));
  const byUid = new Map<number, Identity>();
  for (const owner of [folderOwner, ...preferred]) {
    if (owner.uid !== 0 && !byUid.has(owner.uid)) byUid.set(owner.uid, asAccount(owner, users));
  }
  const others = [...namespace, ...byUid.values()];
  if (dataOwner === null || dataOwner.uid === 0) return others;
  // Keeping the owner of the data needs no change on the disk, and lets an ordinary user use the data again later.
  return [asAccount(dataOwner, users), ...others.filter((identity) => identity.uid !== dataOwner.uid)];
}

/** An identity's access to some paths. */
export type Access =
  | { readonly kind: 'works'; readonly allowed: readonly boolean[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** For each path: true if the identity may enter the folder or run the program. */
export async function tryAccess(identity: Identity, paths: readonly string[]): Promise<Access> {
  const script = 'for path do if [ -x "$path" ]; then echo yes; else echo no; fi; done';
  try {
    const { stdout } = await run(identity, 'sh', ['-c', script, 'sh', ...paths]);
    return {
      kind: 'works',
      allowed: stdout
        .trim()
        .split('\n')
        .map((line) => line === 'yes'),
    };
  } catch (error) {
    return { kind: 'refused', reason: `${identity.name}: ${describe(error)}` };
  }
}

/** Runs a program to its end. Throws the error of `execFile`, with `stderr`. */
export async function run(
  identity: Identity,
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const command = identity.command(program, args);
  return await promisify(execFile)(command.file, command.args, {
    ...command.options,
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Far more than `initdb` prints. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** The error message of a failed program, in one line. */
export function describe(error: unknown): string {
  const stderr: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'stderr') : undefined;
  const text = typeof stderr === 'string' && stderr.trim() !== '' ? stderr : String(error);
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('; ');
}

function asSelf(): Identity {
  return {
    kind: 'self',
    name: 'the user of this process',
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    named: hasName(),
    command: (file, args) => ({ file, args: [...args], options: spawnOptions() }),
  };
}

function asAccount({ uid, gid }: Owner, users: readonly SystemUser[]): Identity {
  const user = users.find((candidate) => candidate.uid === uid);
  return {
    kind: 'account',
    name: `the account ${user?.name ?? uid}`,
    uid,
    gid,
    named: user !== undefined,
    command: (file, args) => ({ file, args: [...args], options: { ...spawnOptions(), uid, gid } }),
  };
}

/** Inside, this process' user has the number of an account that exists, because of `named`; it gains no rights. */
function inNamespace(users: readonly SystemUser[]): readonly Identity[] {
  const ordinary = users.filter((user) => user.uid !== 0);
  const user =
    ACCOUNT_NAMES.map((name) => ordinary.find((candidate) => candidate.name === name)).find(
      (candidate) => candidate !== undefined,
    ) ?? ordinary[0];
  if (user === undefined) return [];
  const mapping = ['--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'];
  return [
    {
      kind: 'namespace',
      name: 'a user namespace',
      uid: process.geteuid?.() ?? 0,
      gid: process.getegid?.() ?? 0,
      named: true,
      // unshare replaces itself by the program, so the process has the program's command line and the pid that we know.
      command: (program, args) => ({
        file: 'unshare',
        args: [...mapping, program, ...args],
        options: spawnOptions(),
      }),
    },
  ];
}

function spawnOptions(): SpawnOptions {
  return { cwd: '/', env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/** Lines of passwd(5); lines that can't be parsed are left out. */
function parsePasswd(text: string): readonly SystemUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
