/** `email-worker move`: moves the database to another server. */
import { createRestoreTarget } from '../areas/backup/restore-target.ts';
import { createMovedDatabase } from '../areas/backup/snapshot.ts';
import { MIGRATION_NAMES } from '../platform/db/migrate.ts';
import { cancelMove, moveDatabase } from '../areas/backup/move-database.ts';
import { readVersion } from '../config/version.ts';
import { openMove } from '../service/open-move.ts';
import { recordAfterwards } from './command-record.ts';
import { formatCount } from './api/format.ts';
import { defineCommand, UsageError, type CommandResult } from './command.ts';

const EMBEDDED = 'embedded';

export const moveCommand = defineCommand({
  name: 'move',
  summary: 'Moves the database from the embedded PostgreSQL to another server, back, or between servers.',
  description:
    'Stop all services and run it with the old settings; then change DATABASE_URL and start them. The queue, events, webhooks ' +
    'and sessions continue. Files stay at BLOB_URL. The new database must be empty, or be the one from which this one was ' +
    'moved.\n\n' +
    'The old database keeps its data and is marked as moved, so that services and commands refuse it. After an interruption, ' +
    'the same command repeats the move; until then no service starts on either database, unless --cancel abandons it.',
  arguments: [],
  options: {
    to: {
      type: 'string',
      value: 'url',
      meaning:
        'Target: `postgres://user@host:5432/name`, or `embedded`. Put the password into PGPASSWORD, so that no other user sees ' +
        'it.',
    },
    cancel: {
      type: 'boolean',
      meaning: 'Only lets services start on the old database again.',
    },
  },
  examples: [
    {
      line: 'move --to postgres://mail@db.example.com:5432/mail',
      meaning: 'Moves the embedded database to a server.',
    },
  ],
  async run(
    { to, cancel = false },
    _positionals,
    { config, logger, output, signal },
  ): Promise<CommandResult> {
    const url = cancel ? config.databaseUrl : readTarget(to, config.databaseUrl);
    const databases = await openMove(config, url, logger);
    try {
      const source = createMovedDatabase(databases.source);
      if (cancel) {
        await cancelMove(source);
        output.print('services can start on the database again');
        return 'done';
      }
      const result = await moveDatabase(
        {
          source,
          sourceState: createRestoreTarget(databases.source),
          target: createRestoreTarget(databases.target),
          settleJournal: databases.settleJournal,
        },
        {
          migrations: MIGRATION_NAMES,
          serviceVersion: readVersion(),
          onStep: (text) => logger.info({}, text),
        },
      );
      await recordAfterwards(() => databases.target(signal), ['move'], config, logger);
      output.print(
        result === null
          ? 'the earlier move of the database is now complete'
          : `${formatCount(result.rows, 'row')} moved`,
      );
      output.print(
        url === null
          ? 'Now remove DATABASE_URL, and start the service'
          : 'Now set DATABASE_URL, and start the service',
      );
      return 'done';
    } finally {
      await databases.close();
    }
  },
});

/** null: the embedded server. */
function readTarget(to: string | undefined, from: string | null): string | null {
  if (to === undefined) throw new UsageError('--to is missing');
  if (to === EMBEDDED) {
    if (from === null) throw new UsageError('the database is the embedded one already; --to postgres://…');
    return null;
  }
  if (!URL.canParse(to) || !/^postgres(ql)?:$/.test(new URL(to).protocol))
    throw new UsageError('--to must be postgres://user@host:5432/name, or embedded');
  if (to === from) throw new UsageError('the database is already there');
  return to;
}
