/** A part of the composition root: the comparison of this process's clock with the database's. */
import { uptime } from 'node:os';
import { createDatabaseClock } from '../platform/db/database-clock.ts';
import type { Logger } from '../platform/base/basics.ts';
import { ClockGuard } from '../platform/base/clock-guard.ts';
import type { OpenDatabase } from './open-database.ts';

export const createClockGuard = (
  pool: OpenDatabase['pool'],
  instanceId: string,
  logger: Logger,
): ClockGuard =>
  new ClockGuard({
    database: createDatabaseClock(pool),
    instanceId,
    wall: Date.now,
    now: () => performance.now(),
    uptime: () => uptime() * 1000,
    logger,
  });
