/** Every declared operation of the API, and what they stand on. */
import type { Operation } from '../platform/operation/declaration.ts';
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

export interface OperationDeps {
  readonly auditLog: Pick<AuditLog, 'list'>;
  readonly clock: Clock;
  readonly guard: Pick<ClockGuard, 'measure' | 'trust'>;
  readonly imports: Pick<ImportLog, 'list'>;
  readonly keys: Keys;
  readonly retention: ConfirmRetention;
  readonly statistics: StatisticsUseCases;
  readonly suppressions: Suppressions;
  readonly templates: Templates;
  readonly unsubscribes: Unsubscribes;
  readonly webhooks: Webhooks;
}

export const OPERATIONS: readonly Operation<OperationDeps>[] = [
  ...templateOperations,
  ...retentionOperations,
  ...clockOperations,
  ...suppressionOperations,
  ...unsubscribeOperations,
  ...webhookOperations,
  ...keyOperations,
  ...auditOperations,
  ...statisticsOperations,
  ...importOperations,
];
