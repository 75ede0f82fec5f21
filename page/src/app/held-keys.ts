/**
 * Holds keys between a request for a writer and its focus, while the writer's code and data are still loading. Text typed meanwhile is
 * meant for the writer, so no shortcut acts on it, and the first field that gets the focus gets the text.
 */

/** A writer that takes longer has failed to load; shortcuts then work again. Enough for a slow connection. */
const MAX_HOLD_MS = 30_000;

let end: (() => void) | null = null;

export const areKeysHeld = (): boolean => end !== null;

/** Holds keys from now until a field has the focus. Escape, a pointer press, or a writer that does not appear also ends it. */
export function holdKeys(): void {
  end?.();
  const stop = new AbortController();
  let typed = '';
  const finish = (): void => {
    stop.abort();
    clearTimeout(timer);
    end = null;
  };
  const timer = setTimeout(finish, MAX_HOLD_MS);
  const listen = <Name extends keyof WindowEventMap>(
    name: Name,
    listener: (event: WindowEventMap[Name]) => void,
  ): void => addEventListener(name, listener, { signal: stop.signal, capture: true });
  listen('keydown', (event) => {
    if (event.key === 'Escape') finish();
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    typed += event.key;
  });
  listen('pointerdown', finish);
  listen('focusin', ({ target }) => {
    if (!isField(target)) return;
    finish();
    // Deferred until the field's own listeners have run: an editor accepts text only then. React fields and editors both notice this way of
    // entering text, and no other.
    if (typed !== '') setTimeout(() => document.execCommand('insertText', false, typed));
  });
  end = finish;
}

/** True if keys pressed on this target enter text. */
export const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'));
