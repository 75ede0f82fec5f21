import type { EndedAttempt, JournalAttempt, UnrecordedEmail } from '../../src/areas/send/journal-ports.ts';
import type { TransportResult } from '../../src/areas/send/transport-ports.ts';
import type { Logger } from '../../src/platform/base/basics.ts';

export function uuid(n: number): string;
export function makeAttempt(n: number, rawBytes?: number): JournalAttempt & { email: UnrecordedEmail };
export function makeQueued(n: number, attempt?: number): JournalAttempt;
export function end(attempt: JournalAttempt): EndedAttempt;
export const accepted: TransportResult;
export const silentLogger: Logger;
