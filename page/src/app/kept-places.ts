/**
 * Where the reader was in a list or a thread, and what was selected: kept for this tab, so that the way back, another folder and a reload
 * lead there again.
 */

const PREFIX = 'email-worker.place.';

/** null: nothing is kept under the name. */
export function keptPlace<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** null: forgets it. */
export function keepPlace(name: string, place: object | null): void {
  try {
    if (place === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(place));
  } catch {
    // A browser that stores nothing starts at the top again.
  }
}

/** When a person logs out. */
export function forgetPlaces(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

const INPUTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Calls `onInput` when the reader is about to move the content of the pane. Returns the end of that. */
export function onReaderInput(pane: HTMLElement, onInput: () => void): () => void {
  for (const name of INPUTS) pane.addEventListener(name, onInput, { passive: true });
  return () => {
    for (const name of INPUTS) pane.removeEventListener(name, onInput);
  };
}
