/** Leases: what a process has claimed is its own for a while, and renewed while it works on it. */

/** Renewals in one lease: two may be lost before it runs out. */
export const RENEWALS_PER_LEASE = 3;
