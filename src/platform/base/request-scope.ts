/**
 * The request that the work under way belongs to, for log lines and for turns of callers: it follows what the request awaits, so that no use case
 * has to pass it on. Things that outlive a request, such as a connection of a pool, are set up outside of it. Where
 * following is expensive, only the lines of the HTTP edge name their request.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * Before Node.js 24, following makes each promise of the process more expensive, requests or not: 4 µs more for a read of
 * a thread, whose whole cost was 45 µs in the same run.
 */
export const FOLLOWING_IS_CHEAP = Number.parseInt(process.versions.node, 10) >= 24;

/** `asker`: the caller, once it has shown who it is. */
interface Scope {
  readonly requestId: string;
  asker?: string;
}

const scope = new AsyncLocalStorage<Scope>();

/** Runs the work, and everything that follows from it, as that of this request. */
export const inRequest = <T>(requestId: string, work: () => T): T => scope.run({ requestId }, work);

/** undefined outside of requests. */
export const currentRequestId = (): string | undefined => scope.getStore()?.requestId;

/** The caller of the request under way. Does nothing outside of requests. */
export function nameAsker(asker: string): void {
  const request = scope.getStore();
  if (request !== undefined) request.asker = asker;
}

/** undefined where the caller is not known, or not followed. */
export const currentAsker = (): string | undefined => scope.getStore()?.asker;

/** The context of the program's start, to which no request belongs. */
const outside = new AsyncResource('email-worker');

/** Runs the work of a loop outside of the request that woke it. */
export const outsideRequest = <T>(work: () => T): T => outside.runInAsyncScope(work);

/** A listener of events that belongs to no request, whichever request they occur in. */
export const outsideRequests = <Given extends unknown[]>(
  listener: (...given: Given) => void,
): ((...given: Given) => void) => AsyncResource.bind(listener);
