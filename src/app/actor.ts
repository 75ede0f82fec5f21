/** Who acts: carried along with a request from the edge that knows it, for the security log. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface HttpActor {
  readonly by: 'http';
  /** See core/edge/address-group.ts. */
  readonly address: string;
  /** Which of the secrets of `API_SECRET` was used, from 1. */
  readonly credential: number;
}

const actors = new AsyncLocalStorage<HttpActor>();

/** Runs `work`, and all that follows from it, as this actor. */
export function runAs<T>(actor: HttpActor, work: () => T): T {
  return actors.run(actor, work);
}

/** null outside of any request. */
export function currentActor(): HttpActor | null {
  return actors.getStore() ?? null;
}
