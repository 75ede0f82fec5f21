import type { JournalEntry, Logger, SettledResult } from '../../src/app/ports.ts';

export function uuid(n: number): string;
export function makeEntry(n: number, rawBytes?: number): JournalEntry;
export const accepted: SettledResult;
export const silentLogger: Logger;
