/** Every declared operation of the API, and what they stand on. */
import type { Operation } from '../platform/operation/declaration.ts';
import type { FindAccountSettings } from '../areas/accounts/account-ports.ts';
import type { AccountConsents } from '../areas/accounts/account-consents.ts';
import type { ManagedAccounts } from '../areas/accounts/manage-accounts.ts';
import { accountOperations } from '../areas/mailboxes/account-operations.ts';
import { addressOperations } from '../areas/addresses/operations.ts';
import type { AddressUseCases } from '../areas/addresses/use-cases.ts';
import type { Application } from './application.ts';
import type { Customers } from '../areas/customers/customers.ts';
import { customerOperations } from '../areas/customers/operations.ts';
import type { AssigneeReader } from '../areas/threads/assignees.ts';
import { assigneeOperations } from '../areas/threads/assignee-operations.ts';
import type { FolderCounter } from '../areas/threads/folder-counts.ts';
import { folderOperations } from '../areas/threads/folder-operations.ts';
import { auditOperations } from '../areas/audit/operations.ts';
import type { AuditLog } from '../platform/access/audit-ports.ts';
import type { Clock, IdSource } from '../platform/base/basics.ts';
import type { ClockGuard } from '../platform/base/clock-guard.ts';
import type { Captures } from '../areas/capture/captures.ts';
import { captureOperations } from '../areas/capture/operations.ts';
import { clockOperations } from '../areas/clock/operations.ts';
import type { ConfirmRetention } from '../areas/erase/retain.ts';
import { retentionOperations } from '../areas/erase/retention-operations.ts';
import type { ImportLog } from '../areas/import/import-ports.ts';
import { importOperations } from '../areas/import/operations.ts';
import type { Keys } from '../areas/keys/manage-keys.ts';
import { keyOperations } from '../areas/keys/operations.ts';
import type { AccountOf } from '../platform/access/account-of.ts';
import type { Deletions } from '../areas/erase/delete-emails.ts';
import { deletionOperations } from '../areas/erase/deletion-operations.ts';
import { mailboxOperations } from '../areas/mailboxes/operations.ts';
import type { Mailboxes } from '../areas/mailboxes/read-mailbox-status.ts';
import type { SendActs } from '../areas/send/operate-sends.ts';
import { sendOperations } from '../areas/send/operations.ts';
import { sentCopyOperations } from '../areas/sent-copies/operations.ts';
import type { SentCopyStore } from '../areas/sent-copies/sent-copy-ports.ts';
import type { Decisions } from '../areas/threads/decide-threads.ts';
import { threadChangeOperations } from '../areas/threads/change-operations.ts';
import { decisionOperations } from '../areas/threads/decision-operations.ts';
import { suppressionOperations } from '../areas/send/suppression-operations.ts';
import type { Suppressions } from '../areas/send/suppressions.ts';
import { statisticsOperations } from '../areas/statistics/operations.ts';
import type { StatisticsUseCases } from '../areas/statistics/use-cases.ts';
import { blockedOperations } from '../areas/rules/blocked-operations.ts';
import type { BlockedSenders } from '../areas/rules/blocked-senders.ts';
import { ruleOperations } from '../areas/rules/operations.ts';
import type { Rules } from '../areas/rules/rules.ts';
import { templateOperations } from '../areas/templates/operations.ts';
import type { Templates } from '../areas/templates/templates.ts';
import { unsubscribeOperations } from '../areas/unsubscribes/operations.ts';
import type { Unsubscribes } from '../areas/unsubscribes/unsubscribes.ts';
import { webhookOperations } from '../areas/webhooks/operations.ts';
import type { Webhooks } from '../areas/webhooks/webhooks.ts';

/** The use cases of routes that are written by hand are among them. */
export interface OperationDeps extends Omit<Application, 'checkReadiness'> {
  readonly accountOf: AccountOf;
  readonly accounts: ManagedAccounts;
  readonly consents: AccountConsents;
  readonly ids: IdSource;
  readonly countEmails: (accountId: string) => Promise<number>;
  readonly findAccountSettings: FindAccountSettings;
  readonly addresses: AddressUseCases;
  readonly assignees: AssigneeReader;
  readonly auditLog: Pick<AuditLog, 'list'>;
  readonly captures: Captures;
  readonly clock: Clock;
  readonly customers: Customers;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
  readonly findThreads: Application['listThreads'];
  readonly folders: FolderCounter;
  readonly guard: Pick<ClockGuard, 'measure' | 'trust'>;
  readonly imports: Pick<ImportLog, 'list'>;
  readonly keys: Keys;
  readonly mailboxes: Mailboxes;
  readonly retention: ConfirmRetention;
  readonly blockedSenders: BlockedSenders;
  readonly rules: Rules;
  readonly sendActs: SendActs;
  readonly sentCopies: Pick<SentCopyStore, 'retry'>;
  readonly statistics: StatisticsUseCases;
  readonly suppressions: Suppressions;
  readonly templates: Templates;
  readonly unsubscribes: Unsubscribes;
  readonly webhooks: Webhooks;
}

export const OPERATIONS: readonly Operation<OperationDeps>[] = [
  ...folderOperations,
  ...assigneeOperations,
  ...threadChangeOperations,
  ...decisionOperations,
  ...ruleOperations,
  ...blockedOperations,
  ...templateOperations,
  ...sendOperations,
  ...deletionOperations,
  ...retentionOperations,
  ...clockOperations,
  ...suppressionOperations,
  ...unsubscribeOperations,
  ...accountOperations,
  ...mailboxOperations,
  ...captureOperations,
  ...sentCopyOperations,
  ...customerOperations,
  ...addressOperations,
  ...webhookOperations,
  ...keyOperations,
  ...auditOperations,
  ...statisticsOperations,
  ...importOperations,
];
