/**
 * Writes commands to the security log. A command has no log of its own, so its lines go to `DATA_DIR/security.log`, in
 * the form of the service's.
 */
import { userInfo } from 'node:os';
import path from 'node:path';
import { createFileLogger } from '../adapters/telemetry/logger.ts';
import { createSecurityLog } from '../app/base/security-log.ts';

/** Characters of the arguments that are told: an import may name thousands of files. */
const MAX_ARGUMENT_CHARS = 2000;

export interface CommandRecord {
  ended(exitCode: number | null): void;
}

/** Says that it started. `argv` begins with the command's name. */
export function recordCommand(dataDir: string, argv: readonly string[]): CommandRecord {
  const security = createSecurityLog(createFileLogger(path.join(dataDir, 'security.log')));
  const { username, uid } = userInfo();
  const actor = { by: 'command', user: username, uid, pid: process.pid };
  const [command, ...args] = argv;
  const fields = { actor, command, arguments: args.join(' ').slice(0, MAX_ARGUMENT_CHARS) };
  security.note('command.started', fields);
  return { ended: (exitCode) => security.note('command.ended', { ...fields, exitCode }) };
}
