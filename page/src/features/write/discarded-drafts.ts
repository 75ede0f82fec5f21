/**
 * Drafts that a person discarded: hidden at once, and deleted when that can no longer be undone, or when the page is left. This browser
 * remembers them, so that those of a page that was killed in between are deleted when it is opened again.
 */

/** Deletes of the hidden drafts, by their ids. */
const waiting = new Map<string, () => void>();
/** Deleted ones, which an answer that is on its way may still list. */
const deleted = new Set<string>();

const KEY = 'email-worker.discarded';

export interface DiscardPorts {
  readonly remove: (id: string) => Promise<unknown>;
  /** The draft could not be deleted: it is shown again. */
  readonly onFailure: () => void;
}

export const isDiscarded = (id: string): boolean => waiting.has(id) || deleted.has(id);

/** The discarded drafts that the service still counts. */
export const discardedCount = (): number => waiting.size;

/** Hides the draft, and deletes it after `undoMs`. Returns the undo, which is false once it is too late. */
export function discardLater(id: string, undoMs: number, { remove, onFailure }: DiscardPorts): () => boolean {
  const end = (): void => {
    clearTimeout(timer);
    if (!waiting.delete(id)) return;
    deleted.add(id);
    // Remembered until then: the next page may ask for the drafts before the service has this request.
    remove(id).then(
      () => forget(id),
      () => {
        forget(id);
        deleted.delete(id);
        onFailure();
      },
    );
  };
  const timer = setTimeout(end, undoMs);
  waiting.set(id, end);
  remember([...remembered(), id]);
  return () => {
    clearTimeout(timer);
    const isUndone = waiting.delete(id);
    if (isUndone) forget(id);
    return isUndone;
  };
}

/** Deletes what is hidden, as when the page is left. */
export function deleteDiscarded(): void {
  waiting.forEach((end) => end());
}

/** Deletes what a page left that was killed. A draft that another window still hides can no longer be taken back there. */
export function deleteLeft(remove: (id: string) => Promise<unknown>): Promise<unknown> {
  const left = remembered().filter((id) => !isDiscarded(id));
  for (const id of left) deleted.add(id);
  // One that cannot be deleted, or was deleted before, is listed or not as the service has it.
  return Promise.allSettled(
    left.map((id) =>
      remove(id).finally(() => {
        forget(id);
        deleted.delete(id);
      }),
    ),
  );
}

const forget = (id: string): void => remember(remembered().filter((one) => one !== id));

function remember(ids: readonly string[]): void {
  try {
    if (ids.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(ids));
  } catch {
    // A browser that stores nothing shows the draft again after a crash.
  }
}

function remembered(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
