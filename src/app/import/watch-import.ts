/** Notes how far an import has come while it runs, and how it ended, for operators who watch it from elsewhere. */
import type { Logger } from '../base/basics.ts';
import type { ImportCounts } from './import-mail.ts';
import type { ImportLog, ImportOutcome, ImportProgress } from './import-ports.ts';

/** Often enough to be watched, and nothing beside the import itself. */
const NOTE_EVERY_MS = 2000;

export interface ImportWatch {
  /** So many bytes of files are done with. */
  advance(bytes: number): void;
  /** All files together have so many bytes. */
  setTotal(bytes: number): void;
  /** Resolves when it is noted, or can't be: an import that did its work has not failed for that. */
  end(outcome: ImportOutcome): Promise<void>;
}

/** @param counts counted up by the import */
export async function watchImport(
  log: Pick<ImportLog, 'begin' | 'note'>,
  logger: Pick<Logger, 'warn'>,
  accountId: string,
  counts: ImportCounts,
): Promise<ImportWatch> {
  const id = await log.begin(accountId);
  let bytesDone = 0;
  let bytesTotal: number | null = null;
  /** null: none is under way. */
  let noting: Promise<void> | null = null;
  const note = async (outcome: ImportOutcome | null): Promise<void> => {
    try {
      await log.note(id, toProgress(counts, bytesDone, bytesTotal), outcome);
    } catch (error) {
      logger.warn({ err: error }, 'the progress of the import could not be noted');
    }
  };
  const timer = setInterval(() => {
    noting ??= note(null).finally(() => {
      noting = null;
    });
  }, NOTE_EVERY_MS);
  return {
    advance: (bytes) => {
      bytesDone += bytes;
    },
    setTotal: (bytes) => {
      bytesTotal = bytes;
    },
    async end(outcome) {
      clearInterval(timer);
      // What is under way must not come after the end.
      await noting;
      await note(outcome);
    },
  };
}

function toProgress(counts: ImportCounts, bytesDone: number, bytesTotal: number | null): ImportProgress {
  const { imported, known, unchangedFiles, older, empty, unsent, junk, trash, failed } = counts;
  return {
    imported,
    known: known + unchangedFiles,
    leftOut: older + empty + unsent + junk + trash,
    failed,
    bytesDone,
    bytesTotal,
  };
}
