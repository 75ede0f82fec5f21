/** Has rules judged on what is recorded of an account, page by page, and adds up the counts. */
import { useEffect, useState } from 'react';
import type { CapturePreview } from 'email-worker-client';
import { client } from '../../../api/client.ts';
import type { Capture } from './capture-form.ts';

export type PreviewSums = Omit<CapturePreview, 'next_cursor' | 'left_out_now'>;

export interface PreviewState {
  /** So far; null: no page has come yet. */
  readonly sums: PreviewSums | null;
  readonly isComplete: boolean;
  readonly error: unknown;
}

/** Emails that are shown. */
export const EXAMPLES = 10;

const BEGUN: PreviewState = { sums: null, isComplete: false, error: null };

/** It begins with its component, and ends with it. @param capture undefined: the saved rules; always the same object */
export function usePreview(id: string, capture: Capture | null | undefined): PreviewState {
  const [state, setState] = useState(BEGUN);
  useEffect(() => {
    const end = new AbortController();
    const options = { signal: end.signal, ...(capture === undefined ? {} : { capture }) };
    const pages = client.accounts.previewCapture(id, options);
    const judge = async (): Promise<void> => {
      let sums: PreviewSums | null = null;
      for await (const page of pages) {
        if (end.signal.aborted) return;
        sums = sums === null ? { ...page, emails: page.emails.slice(0, EXAMPLES) } : addUp(sums, page);
        setState({ sums, isComplete: page.next_cursor === null, error: null });
      }
    };
    judge().catch((error: unknown) => {
      if (!end.signal.aborted) setState((known) => ({ ...known, error }));
    });
    return () => end.abort();
  }, [id, capture]);
  return state;
}

export function addUp(sums: PreviewSums, page: PreviewSums): PreviewSums {
  const add = <Name extends string>(
    one: Readonly<Record<Name, number>>,
    other: Readonly<Record<Name, number>>,
  ) =>
    Object.fromEntries(
      Object.entries<number>(one).map(([name, count]) => [name, count + other[name as Name]]),
    ) as Record<Name, number>;
  return {
    judged: sums.judged + page.judged,
    kept: sums.kept + page.kept,
    not_from_mailbox: sums.not_from_mailbox + page.not_from_mailbox,
    unknown: sums.unknown + page.unknown,
    left_out: add(sums.left_out, page.left_out),
    staying: add(sums.staying, page.staying),
    removable: sums.removable + page.removable,
    removable_bytes: sums.removable_bytes + page.removable_bytes,
    emptied_threads: sums.emptied_threads + page.emptied_threads,
    emails: [...sums.emails, ...page.emails].slice(0, EXAMPLES),
  };
}
