/** Declares the operations of threads whose routes are written by hand. */
import type { FindsAccounts } from '../../platform/http/operations/account-rules.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { ThreadUseCases } from './use-cases.ts';

export type ThreadDeps = ThreadUseCases & FindsAccounts;

export const routed = routedWith<ThreadDeps>();
