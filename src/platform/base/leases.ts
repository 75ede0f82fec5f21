/** Leases: a process owns what it has claimed for a while, and renews the lease while it works on it. */

/**
 * No lease is longer, in ms. A lease that ends later was computed before the clock of the database went back, and is shortened to this (see
 * clock-guard.ts): an owner that lives has renewed it by then, or counts it as over by its own steady clock.
 */
export const LONGEST_LEASE_MS = 300_000;

/** Renewals in one lease: two may be lost before it expires. */
export const RENEWALS_PER_LEASE = 3;
