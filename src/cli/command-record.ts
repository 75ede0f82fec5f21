/**
 * Writes commands to the audit log and to the security log. A command has no log of its own, so its security lines go to
 * `DATA_DIR/security.log`, in the service's format.
 */
import { userInfo } from 'node:os';
import path from 'node:path';
import { createFileLogger } from '../connectors/telemetry/logger.ts';
import { createAuditLog } from '../areas/audit/audit-log.ts';
import type { AuditLog } from '../platform/access/audit-ports.ts';
import type { Logger } from '../platform/base/basics.ts';
import { createSecurityLog } from '../platform/base/security-log.ts';
import type { Config } from '../config/config.ts';
import type { OpenDatabase } from '../service/open-database.ts';

/** Characters of the arguments that are recorded: an import may name thousands of files. */
const MAX_ARGUMENT_CHARS = 2000;
/** The number of arguments that the audit log records. */
const MAX_ARGUMENTS = 10;

export interface CommandRecord {
  ended(exitCode: number): Promise<void>;
}

export interface CommandRecordPorts {
  readonly dataDir: string;
  readonly log: Pick<AuditLog, 'begin' | 'end'>;
  readonly logger: Logger;
}

/** Records that the command started; throws when the audit log can't be written. `argv` begins with the command's name. */
export async function recordCommand(
  { dataDir, log, logger }: CommandRecordPorts,
  argv: readonly string[],
): Promise<CommandRecord> {
  const security = createSecurityLog(createFileLogger(path.join(dataDir, 'security.log')));
  const { username, uid } = userInfo();
  const actor = { by: 'command', user: username, uid, pid: process.pid };
  const [command = '', ...args] = argv;
  const fields = { actor, command, arguments: args.join(' ').slice(0, MAX_ARGUMENT_CHARS) };
  security.note('command.started', fields);
  const position = await log.begin({
    author: { kind: 'command', user: username },
    act: `command.${command}`,
    target: null,
    details: { arguments: toAuditArguments(args) },
  });
  return {
    async ended(exitCode) {
      security.note('command.ended', { ...fields, exitCode });
      try {
        await log.end(position, exitCode === 0 ? null : 'command_failed', { exitCode });
      } catch (err) {
        logger.warn({ err }, 'the end of the command could not be written to the audit log');
      }
    },
  };
}

/** For a command whose database exists only when the command ends. */
export async function recordAfterwards(
  openPool: () => OpenDatabase['pool'],
  argv: readonly string[],
  { dataDir }: Pick<Config, 'dataDir'>,
  logger: Logger,
): Promise<void> {
  const pool = openPool();
  try {
    const record = await recordCommand({ dataDir, log: createAuditLog(pool), logger }, argv);
    await record.ended(0);
  } finally {
    await pool.end();
  }
}

/** A word, an identifier or a number. An address, a path or a name may identify a person, and the audit log outlives an erasure. */
const PLAIN_ARGUMENT = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** The values of options are left out of the audit log. */
const OPTION_NAME = /^--[a-z-]{1,40}/;

function toAuditArguments(args: readonly string[]): readonly string[] {
  const told = args.flatMap((argument, index) => {
    const [option] = OPTION_NAME.exec(argument) ?? [];
    if (option !== undefined) return [option];
    const isValue = args[index - 1]?.startsWith('-') === true;
    return !isValue && PLAIN_ARGUMENT.test(argument) ? [argument] : [];
  });
  return told.slice(0, MAX_ARGUMENTS);
}
