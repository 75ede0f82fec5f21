/** `DatabaseClock` on PostgreSQL; the schema defines what the database remembers: migrations/0001_schema/clock.ts. */
import type { Pool } from 'pg';
import type { DatabaseClock } from '../base/clock-guard.ts';
import { nameAuthor } from './name-author.ts';
import { run, statement } from './statement.ts';
import { inTransaction } from './transaction.ts';
import { toStorableJson } from '../../core/storable-text.ts';

export function createDatabaseClock(pool: Pool): DatabaseClock {
  return {
    async look(witness) {
      const [row] = await run(pool, LOOK, witness);
      if (row === undefined) throw new Error('the clock of the database has no row');
      const { at, expected_at: expectedAt, jumped_at: jumpedAt, lasted_ms: lastedMs } = row;
      return {
        at,
        jump: expectedAt === null || jumpedAt === null ? null : { expectedAt, jumpedAt, lastedMs },
      };
    },

    async shortenLeases(longestMs) {
      await run(pool, SHORTEN_LEASES, { longestMs });
    },

    trust: (keyId) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        await run(client, LOOK, { steadyAt: null, machineAt: null });
        await run(client, TRUST);
      }),

    async noteSkew({ isSkewed, offsetMs, instanceId }) {
      await run(pool, NOTE_SKEW, {
        type: isSkewed ? 'clock.skewed' : 'clock.corrected',
        data: toStorableJson({ offset_seconds: Math.round(offsetMs / 1000), instance_id: instanceId }),
      });
    },
  };
}

/** The clock is read after the row, so that waiting for its lock does not count. */
const LOOK = statement(
  'look-at-clock',
  `select extract(epoch from clock_timestamp())::float8 * 1000 as at, c.expected_at, c.jumped_at,
    extract(epoch from c.lasted)::float8 * 1000 as lasted_ms
  from look_at_clock($steadyAt::timestamptz, $machineAt::timestamptz) c`,
).narrow<{ at: number; expected_at: Date | null; jumped_at: Date | null; lasted_ms: number }>();

const SHORTEN_LEASES = statement(
  'shorten-leases',
  `select shorten_leases(make_interval(secs => $longestMs::float8 / 1000)) is null as done`,
);

const TRUST = statement(
  'trust-clock',
  'select (trust_clock(c)).seen_at from (select * from database_clock for update) c where c.jumped_at is not null',
);

const NOTE_SKEW = statement('note-clock-skew', 'select note_clock_skew($type::text, $data::text)');
