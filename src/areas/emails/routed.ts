/** Declares the operations of emails whose routes are written by hand. */
import type { FindsAccounts } from '../../platform/http/operations/account-rules.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { EmailUseCases } from './use-cases.ts';

export type EmailDeps = EmailUseCases & FindsAccounts;

export const routed = routedWith<EmailDeps>();
