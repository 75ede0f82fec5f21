/**
 * Keeps the focus in the page. The focused element may disappear: a row that was done, a menu whose button went with it. The browser then
 * drops the focus, and a reader who uses the keyboard or a screen reader would start at the top again.
 */
import { useEffect } from 'react';

/** Focused elements that are remembered: a dialog, the menu that opened it, and the row that had the menu may all be gone. */
const REMEMBERED = 8;
const FOCUSABLE = 'a[href], button:not(:disabled), input, textarea, select, [tabindex]';

/** An element that was focused, and its ancestors, from the inside out. */
type Path = readonly Element[];

export function useKeptFocus(): void {
  useEffect(() => {
    let paths: readonly Path[] = [];
    let frame = 0;
    const remember = ({ target }: FocusEvent): void => {
      if (target instanceof Element) paths = [pathOf(target), ...paths].slice(0, REMEMBERED);
    };
    const restore = (): void => {
      frame = 0;
      if (!isLost(paths)) return;
      for (const path of paths) {
        const element = path.find((one) => one.isConnected && one.matches(FOCUSABLE));
        if (!(element instanceof HTMLElement)) continue;
        element.focus({ preventScroll: true });
        if (document.activeElement === element) return;
      }
      // Everything remembered is gone, as after a thread is done: every view has its list.
      document.getElementById('list')?.focus({ preventScroll: true });
    };
    const watching = new MutationObserver(() => {
      // Deferred until views and menus have set a focus of their own.
      if (frame === 0 && isLost(paths))
        frame = requestAnimationFrame(() => (frame = requestAnimationFrame(restore)));
    });
    addEventListener('focusin', remember);
    watching.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', remember);
      watching.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
}

function pathOf(element: Element): Path {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement)
    path.push(at);
  return path;
}

const isLost = ([last]: readonly Path[]): boolean =>
  document.activeElement === document.body && last?.[0]?.isConnected === false;
