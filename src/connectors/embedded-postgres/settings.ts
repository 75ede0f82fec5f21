/**
 * The settings of the server. All are on its command line, which overrides postgresql.conf: an update of the service brings its settings
 * with it, and the command line of a server that was left running shows whether it is the one that would be started now.
 */
import { SOCKET_PORT } from './socket-folder.ts';

/** The superuser, and the only role. */
export const USER = 'email_worker';
export const DATABASE = 'email_worker';

/**
 * `trust` without a password: the only way in is a socket in a folder that only the server's user (and root) can enter, and they can read
 * the data files as well. A password would be in a file beside them and protect nothing.
 *
 * The builtin C.UTF-8 locale sorts by code point and folds the case of all scripts, in the same way on every system: no library update
 * corrupts an index, and the folder may move to another machine. `--locale=C` keeps the system's locales out.
 */
export const INITDB_ARGUMENTS: readonly string[] = [
  `--username=${USER}`,
  '--auth-local=trust',
  '--auth-host=reject',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',

  // A 200 of the API promises that the email is on the disk.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  // Pools of several processes and tools fit; one more connection costs some kilobytes of shared memory.
  max_connections: '200',
  shared_buffers: '128MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  // Parallel queries need more of /dev/shm than the 64 MB of a container, and short queries gain nothing from them.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',

  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',

  // Standard error is the log file. The service reports failed statements; without `terse`, the details of others would write rows with
  // addresses and bodies into the file.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** The server's arguments. `version` is that of the binaries: another version gives another command line. */
export function serverArguments(
  dataFolder: string,
  socketFolder: string,
  version: string,
): readonly string[] {
  const settings = {
    ...SETTINGS,
    unix_socket_directories: quoteListItem(socketFolder),
    'email_worker.binaries': version,
  };
  return [
    '-D',
    dataFolder,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** The setting is a comma-separated list of paths. */
function quoteListItem(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
