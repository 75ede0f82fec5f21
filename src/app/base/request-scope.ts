/**
 * Which request the work under way belongs to, for the lines of the log: it follows what the request awaits, so that no use case has to
 * pass it on. What outlives a request, such as a connection of a pool, is set up outside of it. Where that is dear, the lines of the HTTP
 * edge alone name their request.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * Before Node.js 24, following makes each promise of the process cost more, requests or not: 4 µs more for a read of a thread, whose
 * whole cost was 45 µs in the same run.
 */
export const FOLLOWING_IS_CHEAP = Number.parseInt(process.versions.node, 10) >= 24;

const scope = new AsyncLocalStorage<string>();

/** Does the work, and all that follows from it, as that of this request. */
export const inRequest = <T>(requestId: string, work: () => T): T => scope.run(requestId, work);

/** undefined outside of requests. */
export const currentRequestId = (): string | undefined => scope.getStore();

/** The context of the start, to which no request belongs. */
const outside = new AsyncResource('email-worker');

/** Does the work of a loop, whichever request it was that woke it. */
export const outsideRequest = <T>(work: () => T): T => outside.runInAsyncScope(work);

/** A listener of events that belongs to no request, whichever one they come up in. */
export const outsideRequests = <Given extends unknown[]>(
  listener: (...given: Given) => void,
): ((...given: Given) => void) => AsyncResource.bind(listener);
