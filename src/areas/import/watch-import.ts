/** Records the progress of an import while it runs, and how it ended, for operators who watch it from elsewhere. */
import type { Logger } from '../../platform/base/basics.ts';
import type { ImportCounts } from './import-mail.ts';
import type { ImportLog, ImportOutcome, ImportProgress } from './import-ports.ts';

/** Often enough to be watched, and negligible beside the import itself. */
const NOTE_EVERY_MS = 2000;

export interface ImportWatch {
  /** This many more bytes of files are done. */
  advance(bytes: number): void;
  /** The total size of all files, in bytes. */
  setTotal(bytes: number): void;
  /** Resolves when the outcome is recorded, or can't be: an import that did its work has not failed because of that. */
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
  /** null: no note is under way. */
  let noting: Promise<void> | null = null;
  const note = async (outcome: ImportOutcome | null): Promise<void> => {
    try {
      await log.note(id, toProgress(counts, bytesDone, bytesTotal), outcome);
    } catch (error) {
      logger.warn({ err: error }, 'the progress of the import could not be recorded');
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
      // A note that is under way must not be written after the end.
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
