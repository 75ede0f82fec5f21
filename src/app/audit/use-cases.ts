/** The use cases of the audit log that the edges call. */
import { createCursorForm, readPage, type PageRequest } from '../base/paging.ts';
import type { AuditEntry, AuditFilter, AuditLog } from './audit-ports.ts';

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface AuditUseCases {
  /** The newest first. Throws `invalid_cursor`. */
  listAudit(request: AuditFilter & PageRequest): Promise<AuditPage>;
}

const POSITION_CURSOR = createCursorForm<string>(
  (position) => position,
  (text) => (/^[1-9]\d{0,17}$/.test(text) ? text : null),
);

export function createAuditReads(log: Pick<AuditLog, 'list'>): AuditUseCases {
  return {
    async listAudit(request) {
      const { items, nextCursor } = await readPage(
        POSITION_CURSOR,
        request,
        (before, limit) => log.list(request, before, limit),
        ({ position }) => position,
      );
      return { entries: items, nextCursor };
    },
  };
}
