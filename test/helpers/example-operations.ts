/** Runs declared operations by answering with their examples, for tests of the HTTP edge alone. */
import { exampleOf } from '../../src/api/document/examples.ts';
import type { Application } from '../../src/api/application.ts';
import type { OperationDeps } from '../../src/api/operations.ts';
import {
  createOperationRunner,
  type OperationRunner,
  type RunOperation,
} from '../../src/platform/operation/run-operation.ts';
import { fromJson, type Properties } from '../../src/platform/operation/values.ts';
import { silentLogger } from './silent-logger.ts';

export const answerWithExample: RunOperation<OperationDeps> = async ({ id, output }) =>
  fromJson(output.properties ?? {})(exampleOf(output as object, id, 'application/json') as Properties);

/** Runs them on these parts, for a caller who may do everything; nothing is logged. */
export const createRunner = (deps: Partial<OperationDeps> | Application): OperationRunner<OperationDeps> =>
  createOperationRunner({
    accounts: { defaultAccountId: 'main', isKnown: () => true, ofSender: () => 'main' },
    acts: {
      security: { note: () => undefined },
      log: { begin: async () => '1', end: async () => undefined },
      logger: silentLogger,
    },
    deps: deps as OperationDeps,
    wake: () => undefined,
  });

export const runOn = (deps: Partial<OperationDeps>): RunOperation<OperationDeps> => createRunner(deps).run;
