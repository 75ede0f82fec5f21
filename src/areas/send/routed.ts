/** Declares the operations of sends whose routes are written by hand. */
import type { FindsAccounts } from '../../platform/http/operations/account-rules.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { SendUseCases } from './use-cases.ts';

export type SendDeps = SendUseCases & FindsAccounts;

export const routed = routedWith<SendDeps>();
