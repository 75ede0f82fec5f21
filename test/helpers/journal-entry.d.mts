import type { JournalEntry, SettledResult } from '../../src/app/send/journal-ports.ts';
import type { Logger } from '../../src/app/base/basics.ts';

export function uuid(n: number): string;
export function makeEntry(n: number, rawBytes?: number): JournalEntry;
export const accepted: SettledResult;
export const silentLogger: Logger;
