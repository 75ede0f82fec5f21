/** Every declared operation of the API, and what they stand on. */
import type { Operation } from '../platform/operation/declaration.ts';
import type { ManagedAccounts } from './accounts/manage-accounts.ts';
import { accountOperations } from './mailboxes/account-operations.ts';
import { addressOperations } from './addresses/operations.ts';
import type { AddressUseCases } from './addresses/use-cases.ts';
import type { Application } from './application.ts';
import type { Customers } from './customers/customers.ts';
import { customerOperations } from './customers/operations.ts';
import type { AssigneeReader } from './threads/assignee-ports.ts';
import { assigneeOperations } from './threads/assignee-operations.ts';
import type { FolderCounter } from './threads/folder-counts-ports.ts';
import { folderOperations } from './threads/folder-operations.ts';
import { auditOperations } from './audit/operations.ts';
import type { AuditLog } from './audit/audit-ports.ts';
import type { Clock } from './base/basics.ts';
import type { ClockGuard } from './base/clock-guard.ts';
import { clockOperations } from './clock/operations.ts';
import type { ConfirmRetention } from './erase/retain.ts';
import { retentionOperations } from './erase/retention-operations.ts';
import type { ImportLog } from './import/import-ports.ts';
import { importOperations } from './import/operations.ts';
import type { Keys } from './keys/manage-keys.ts';
import { keyOperations } from './keys/operations.ts';
import type { AccountOf } from './keys/account-of.ts';
import type { Deletions } from './erase/delete-emails.ts';
import { deletionOperations } from './erase/deletion-operations.ts';
import { mailboxOperations } from './mailboxes/operations.ts';
import type { Mailboxes } from './mailboxes/read-mailbox-status.ts';
import type { SendActs } from './send/operate-sends.ts';
import { sendOperations } from './send/operations.ts';
import { sentCopyOperations } from './sent-copies/operations.ts';
import type { SentCopyStore } from './sent-copies/sent-copy-ports.ts';
import type { Decisions } from './threads/decide-threads.ts';
import { decisionOperations } from './threads/decision-operations.ts';
import { suppressionOperations } from './send/suppression-operations.ts';
import type { Suppressions } from './send/suppressions.ts';
import { statisticsOperations } from './statistics/operations.ts';
import type { StatisticsUseCases } from './statistics/use-cases.ts';
import { templateOperations } from './templates/operations.ts';
import type { Templates } from './templates/templates.ts';
import { unsubscribeOperations } from './unsubscribes/operations.ts';
import type { Unsubscribes } from './unsubscribes/unsubscribes.ts';
import { webhookOperations } from './webhooks/operations.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** The use cases of routes that are written by hand are among them. */
export interface OperationDeps extends Omit<Application, 'checkReadiness'> {
  readonly accountOf: AccountOf;
  readonly accounts: ManagedAccounts;
  readonly addresses: AddressUseCases;
  readonly assignees: AssigneeReader;
  readonly auditLog: Pick<AuditLog, 'list'>;
  readonly clock: Clock;
  readonly customers: Customers;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
  readonly folders: FolderCounter;
  readonly guard: Pick<ClockGuard, 'measure' | 'trust'>;
  readonly imports: Pick<ImportLog, 'list'>;
  readonly keys: Keys;
  readonly mailboxes: Mailboxes;
  readonly retention: ConfirmRetention;
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
  ...decisionOperations,
  ...templateOperations,
  ...sendOperations,
  ...deletionOperations,
  ...retentionOperations,
  ...clockOperations,
  ...suppressionOperations,
  ...unsubscribeOperations,
  ...accountOperations,
  ...mailboxOperations,
  ...sentCopyOperations,
  ...customerOperations,
  ...addressOperations,
  ...webhookOperations,
  ...keyOperations,
  ...auditOperations,
  ...statisticsOperations,
  ...importOperations,
];
