/** Whose a draft is. */
import type { DraftSummary } from 'email-worker-client';

/** As the program that made it names people, else the key that made it; null: neither is known. */
export const draftAuthor = ({
  author,
  created_by: key,
}: Pick<DraftSummary, 'author' | 'created_by'>): string | null => author ?? key?.name ?? null;
