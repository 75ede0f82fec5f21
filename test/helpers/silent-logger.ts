import type { Logger } from '../../src/app/base/basics.ts';

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
