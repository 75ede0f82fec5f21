/** Keys that work wherever the focus is, except in input fields and open dialogs. */
import { useLayoutEffect, useRef } from 'react';
import { areKeysHeld, isField } from './held-keys.ts';

type Handler = () => void;

const isWriting = (target: EventTarget | null): boolean =>
  isField(target) || (target instanceof HTMLElement && target.matches('[role=menu] *'));

const isDialogOpen = (): boolean => document.querySelector('[role=dialog], [role=alertdialog]') !== null;

/** `handlers` by `KeyboardEvent.key`. The first one that was mounted takes a key; `preventDefault` tells the others. */
export function useShortcuts(handlers: Readonly<Record<string, Handler>>): void {
  const current = useRef(handlers);
  // Layout effects: a key acts on what is on screen, however soon it is pressed.
  useLayoutEffect(() => {
    current.current = handlers;
  });
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (areKeysHeld() || isWriting(event.target) || isDialogOpen()) return;
      const handler = current.current[event.key];
      if (handler === undefined) return;
      event.preventDefault();
      handler();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
