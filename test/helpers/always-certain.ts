import type { CertainUntil } from '../../src/platform/base/clock-guard.ts';

/** For queues whose clocks are right: every moment of the database is certain. */
export const alwaysCertain: CertainUntil = () => new Date('9999-01-01T00:00:00Z');
