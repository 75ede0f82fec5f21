/** The database server, its clock, and the schema. */
import { checkSessions, LostSessionError } from '../../platform/db/check-database.ts';
import { isLatest } from '../../platform/db/migrate.ts';
import { inspectDatabaseServer, type ServerFacts } from '../../areas/doctor/inspect-server.ts';
import type { Config } from '../../config/config.ts';
import { formatBytes } from '../api/format.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

/**
 * If the clocks differ by more than the first value, in s, emails and log lines appear in the wrong order; beyond the second, tokens and
 * signatures fail.
 */
const CLOCK_WARNING_S = 3;
const CLOCK_PROBLEM_S = 120;
/** A share of the server's connections. */
const BUSY_SHARE = 0.8;
/** Out of about 2,100 million; autovacuum begins in earnest at 200 million. */
const OLD_TRANSACTIONS = 1_000_000_000;

export function checkDatabase(config: Config, data: PatientData): Check {
  return {
    area: 'database',
    name: 'the database',
    async run() {
      const database = await data.database;
      if (database.kind === 'none') {
        return [warning('there is no database yet', 'Start the service: it creates one.')];
      }
      if (database.kind === 'away')
        return [problem(`the database is away: ${database.reason}`, adviceFor(database.reason, config))];
      const facts = await inspectDatabaseServer(database.pool, config.databaseSchema);
      const schema = await isLatest(database.pool);
      return [
        ...ofServer(facts, config),
        judgeClock(facts),
        ...ofConnections(facts, config),
        ...ofTables(facts),
        ...(facts.mayHaveSchema ? [] : [withoutSchema(facts, config)]),
        schema
          ? ok(`the schema ${config.databaseSchema} is the one of this version`)
          : warning(
              `the schema ${config.databaseSchema} is not there, or of an older version`,
              'Start the service: it creates or updates it.',
            ),
        ...(schema ? await ofSessions(database.pool, config) : []),
      ];
    },
  };
}

/** The advice for the operator that fits the message of a failure. */
function adviceFor(reason: string, { databaseUrl }: Config): string {
  if (databaseUrl === null) {
    return 'Check DATA_DIR/postgres/server.log and the free disk space, and restart the service.';
  }
  if (/password|authentication|no pg_hba/i.test(reason))
    return 'Correct user and password in DATABASE_URL, or pg_hba.conf of the server.';
  if (/does not exist/i.test(reason))
    return 'Create the database that DATABASE_URL names, or correct the name.';
  if (/does not support SSL/i.test(reason))
    return 'Turn ssl on in postgresql.conf, or, on a network that you trust, remove sslmode from DATABASE_URL.';
  if (/certificate|SSL|TLS/i.test(reason)) return 'Correct sslmode and sslrootcert in DATABASE_URL.';
  return 'Start the server, or correct host and port in DATABASE_URL; check for firewalls.';
}

function ofServer(facts: ServerFacts, { databaseUrl }: Config): readonly Finding[] {
  const where =
    databaseUrl === null ? 'embedded' : facts.hasTls ? 'external, with TLS' : 'external, without TLS';
  const findings = [ok(`PostgreSQL ${facts.version}, ${where}, ${formatBytes(facts.databaseBytes)}`)];
  if (facts.isReadOnly) {
    findings.push(
      problem(
        'the database can only be read',
        'Set DATABASE_URL to the primary server, or turn default_transaction_read_only off.',
      ),
    );
  }
  if (databaseUrl !== null && facts.isSuperuser) {
    findings.push(
      warning(
        `the role ${facts.role} is a superuser`,
        'Create a role for the service that owns only the schema.',
      ),
    );
  }
  return findings;
}

function withoutSchema({ role }: ServerFacts, { databaseSchema }: Config): Finding {
  return problem(
    `the role ${role} may not create the schema ${databaseSchema}`,
    `Have a superuser make it: create schema ${databaseSchema} authorization ${role}.`,
  );
}

/** The measured difference may be as large as the time that the question took, although the clock is right. */
export function judgeClock({ aheadMs, askedMs }: Pick<ServerFacts, 'aheadMs' | 'askedMs'>): Finding {
  const offBy = aheadMs / 1000;
  const least = Math.abs(offBy) - askedMs / 1000;
  const text = `the clock of the database is ${Math.abs(offBy).toFixed(1)} s ${offBy > 0 ? 'ahead' : 'behind'}`;
  const advice = 'Set both clocks by NTP: timedatectl set-ntp true.';
  if (least > CLOCK_PROBLEM_S) return problem(text, advice);
  if (least > CLOCK_WARNING_S) return warning(text, advice);
  return ok('the clock of the database agrees with the one of this machine');
}

function ofConnections(facts: ServerFacts, { databasePoolSize }: Config): readonly Finding[] {
  const { connections, maxConnections } = facts;
  const text = `${connections} of ${maxConnections} database connections are in use`;
  if (databasePoolSize >= maxConnections) {
    return [
      warning(
        `DATABASE_POOL_SIZE is ${databasePoolSize}, and the server has ${maxConnections} connections`,
        'Set it lower, or max_connections higher.',
      ),
    ];
  }
  if (connections > maxConnections * BUSY_SHARE) {
    return [warning(text, 'Set DATABASE_POOL_SIZE lower, put a pooler between, or raise max_connections.')];
  }
  return [ok(text)];
}

function ofTables({ closedTables, bloatedTables, oldestTransaction, role }: ServerFacts): readonly Finding[] {
  const findings: Finding[] = [];
  if (closedTables.length > 0) {
    findings.push(
      problem(
        `the role ${role} may not read and write ${closedTables.join(', ')}`,
        `Make it the owner: alter table … owner to ${role}.`,
      ),
    );
  }
  for (const { name, dead, live } of bloatedTables) {
    findings.push(
      warning(
        `the table ${name} has ${dead} dead rows beside ${live} living ones`,
        'End transactions that are open for hours (pg_stat_activity), so that autovacuum can clean the table.',
      ),
    );
  }
  if (oldestTransaction > OLD_TRANSACTIONS) {
    findings.push(
      problem(
        'the database runs out of transaction numbers',
        'Run vacuum (freeze) on it soon, and see why autovacuum does not.',
      ),
    );
  }
  return findings;
}

async function ofSessions(
  pool: Parameters<typeof checkSessions>[0],
  { databasePooler }: Config,
): Promise<readonly Finding[]> {
  try {
    const isShared = await checkSessions(pool);
    if (isShared && databasePooler === 'none') {
      return [
        problem(
          'a pooler shares sessions, although DATABASE_POOLER=none is set',
          'Remove DATABASE_POOLER, or set DATABASE_URL to the server itself.',
        ),
      ];
    }
    return [
      ok(
        isShared
          ? 'a pooler shares sessions, and the service has detected it'
          : 'each connection has its own session',
      ),
    ];
  } catch (error) {
    if (!(error instanceof LostSessionError)) throw error;
    return [problem('a pooler shares sessions and was not detected', 'Set DATABASE_POOLER=transaction.')];
  }
}
