/** A part of the composition root: the application as each caller may use it. */
import { actAsKey } from '../app/act-as-key.ts';
import type { Application } from '../app/application.ts';
import { limitToAccounts, type LimitPorts } from '../app/limit-to-accounts.ts';
import type { Caller } from '../core/keys/caller.ts';

/** One view for each caller, made at its first request. */
export function createViews(ports: LimitPorts): (caller: Caller) => Application {
  const views = new WeakMap<Caller, Application>();
  return (caller) => {
    const { author, accounts } = caller;
    if (accounts === null && author.kind !== 'key') return ports.application;
    let view = views.get(caller);
    if (view === undefined) {
      const application = author.kind === 'key' ? actAsKey(ports.application, author.id) : ports.application;
      view = accounts === null ? application : limitToAccounts({ ...ports, application }, accounts);
      views.set(caller, view);
    }
    return view;
  };
}
