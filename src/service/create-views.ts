/** A part of the composition root: the application as each caller may use it. */
import type { Application } from '../app/application.ts';
import { limitToAccounts, type LimitPorts } from '../app/limit-to-accounts.ts';
import type { Caller } from '../core/keys/caller.ts';

/** One for each caller, made at its first request. */
export function createViews(ports: LimitPorts): (caller: Caller) => Application {
  const views = new WeakMap<Caller, Application>();
  return (caller) => {
    if (caller.accounts === null) return ports.application;
    let view = views.get(caller);
    if (view === undefined) {
      view = limitToAccounts(ports, caller.accounts);
      views.set(caller, view);
    }
    return view;
  };
}
