/** Leases: a process owns what it has claimed for a while, and renews the lease while it works on it. */

/** Renewals in one lease: two may be lost before it expires. */
export const RENEWALS_PER_LEASE = 3;
