/** Every declared operation of the API, and what they stand on. */
import type { Operation } from '../platform/operation/declaration.ts';
import type { Clock } from './base/basics.ts';
import { webhookOperations } from './webhooks/operations.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

export interface OperationDeps {
  readonly clock: Clock;
  readonly webhooks: Webhooks;
}

export const OPERATIONS: readonly Operation<OperationDeps>[] = [...webhookOperations];
