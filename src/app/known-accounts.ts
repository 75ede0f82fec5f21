/** Refuses unknown accounts in lists: a misspelt account must not look like one without data. */
import { ServiceError } from '../core/errors.ts';
import type { Application } from './application.ts';
import type { AccountsPorts } from '../platform/operation/seen-accounts.ts';

type AccountLists = Pick<
  Application,
  'listThreads' | 'listEmails' | 'listDrafts' | 'listRefusedMerges' | 'listEvents' | 'streamEvents'
>;

/** The lists, refusing unknown accounts; a configured account costs nothing. */
export function refuseUnknownAccounts(
  { isKnown }: Pick<AccountsPorts, 'isKnown'>,
  lists: AccountLists,
): AccountLists {
  async function check(accountId: string | null): Promise<void> {
    if (accountId === null || (await isKnown(accountId))) return;
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  return {
    async listThreads(request) {
      await check(request.accountId);
      return lists.listThreads(request);
    },
    async listEmails(request) {
      await check(request.accountId);
      return lists.listEmails(request);
    },
    async listDrafts(request) {
      await check(request.accountId);
      return lists.listDrafts(request);
    },
    async listRefusedMerges(request) {
      await check(request.accountId);
      return lists.listRefusedMerges(request);
    },
    async listEvents(request, signal) {
      await check(request.accountId);
      return lists.listEvents(request, signal);
    },
    async streamEvents(request, signal) {
      await check(request.accountId);
      return lists.streamEvents(request, signal);
    },
  };
}
