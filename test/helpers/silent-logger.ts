import type { Logger } from '../../src/platform/base/basics.ts';

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
