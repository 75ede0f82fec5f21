/** Keys that act wherever the focus is, but for fields that are written in and open dialogs. */
import { useEffect, useRef } from 'react';

type Handler = () => void;

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches('input:not([type=checkbox]), textarea, select, [role=menu] *'))
  );
}

const isDialogOpen = (): boolean => document.querySelector('[role=dialog], [role=alertdialog]') !== null;

/** `handlers` by `KeyboardEvent.key`. The last one that was mounted is asked first; it is told by `preventDefault`. */
export function useShortcuts(handlers: Readonly<Record<string, Handler>>): void {
  const current = useRef(handlers);
  useEffect(() => {
    current.current = handlers;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isWriting(event.target) || isDialogOpen()) return;
      const handler = current.current[event.key];
      if (handler === undefined) return;
      event.preventDefault();
      handler();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
