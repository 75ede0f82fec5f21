/** Structured logs on standard output, one JSON object a line, with pino. */
import { pino } from 'pino';
import type { Logger } from '../../app/ports.ts';

/** Fields that must never be written, wherever a careless caller puts them. */
const REDACTED = [
  'authorization',
  'password',
  'secret',
  'pass',
  '*.authorization',
  '*.password',
  '*.secret',
  '*.pass',
];

export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED });
}

/** The same for the security log, which has no levels to choose from: everything, unless nothing is to be logged at all. */
export function createSecurityLogger(level: string): Logger {
  return createLogger(level === 'silent' ? 'silent' : 'info');
}
