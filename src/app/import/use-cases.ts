/** The use cases of imports that the edges call. */
import type { AccountFilter } from '../base/account-filter.ts';
import type { ImportLog, ImportRecord } from './import-ports.ts';

/** More than an operator runs; older ones say nothing about today. */
export const MAX_LISTED_IMPORTS = 100;

export interface ImportUseCases {
  /** The last `MAX_LISTED_IMPORTS`, the newest first. */
  listImports(filter: AccountFilter): Promise<readonly ImportRecord[]>;
}

export function createImports(log: Pick<ImportLog, 'list'>): ImportUseCases {
  return { listImports: (filter) => log.list(filter, MAX_LISTED_IMPORTS) };
}
