import type { Logger } from '../../src/app/ports.ts';

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
