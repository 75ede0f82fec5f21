/**
 * Keys between asking for a writer and its focus: its code and its data are still loading. What is typed meanwhile is meant for the
 * writer, so no shortcut acts on it, and the first field that gets the focus gets the text.
 */

/** A writer that takes longer has failed to load; the shortcuts act again. */
const MAX_HOLD_MS = 5000;

let end: (() => void) | null = null;

export const areKeysHeld = (): boolean => end !== null;

/** From now until a field has the focus; Escape, the pointer and a writer that does not come end it, too. */
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
    // Later than the listeners of the field itself: an editor is ready for text only then. No other way of entering text is heard
    // alike by a React field and by an editor.
    if (typed !== '') setTimeout(() => document.execCommand('insertText', false, typed));
  });
  end = finish;
}

/** Whether keys that are pressed there are text. */
export const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'));
