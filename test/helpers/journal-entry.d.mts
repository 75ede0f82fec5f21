import type { JournalEntry, Logger, TransportResult } from '../../src/app/ports.ts';

export function uuid(n: number): string;
export function makeEntry(n: number, rawBytes?: number): JournalEntry;
export const accepted: TransportResult;
export const silentLogger: Logger;
