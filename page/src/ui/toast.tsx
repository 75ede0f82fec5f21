/**
 * Short notices at the bottom of the page, with an action such as undo. Screen readers announce them; they stay while the pointer or the
 * focus is on them, and disappear by themselves.
 */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useShortcuts } from '../app/shortcuts.ts';
import { useWords } from '../i18n/index.tsx';
import { Button } from './button.tsx';
import './toast.css';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
  readonly lastsMs: number;
}

const LASTS_MS = 6000;
/** More notices would cover the page; the oldest is removed. */
const MAX_SHOWN = 3;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function replace(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

export interface NoticeOptions {
  readonly action?: { readonly label: string; readonly run: () => void };
  readonly lastsMs?: number;
}

/** Returns a function that removes the notice. */
export function notify(text: string, { action, lastsMs = LASTS_MS }: NoticeOptions = {}): () => void {
  const id = ++lastId;
  replace([...notices, { id, text, action: action ?? null, lastsMs }].slice(-MAX_SHOWN));
  return () => dismiss(id);
}

function dismiss(id: number): void {
  if (notices.some((notice) => notice.id === id)) replace(notices.filter((notice) => notice.id !== id));
}

function act({ id, action }: Notice): void {
  dismiss(id);
  action?.run();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  // A notice disappears before Tab can reach it.
  useShortcuts({
    z: () => {
      const latest = notices.findLast(({ action }) => action !== null);
      if (latest !== undefined) act(latest);
    },
  });
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((notice) => (
        <Toast key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function Toast({ notice }: { readonly notice: Notice }) {
  const { text } = useWords();
  const [isHeld, setHeld] = useState(false);
  const leftMs = useRef(notice.lastsMs);
  useEffect(() => {
    if (isHeld) return undefined;
    const since = Date.now();
    const timer = setTimeout(() => dismiss(notice.id), leftMs.current);
    return () => {
      clearTimeout(timer);
      leftMs.current -= Date.now() - since;
    };
  }, [isHeld, notice.id]);
  const { action } = notice;
  return (
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{notice.text}</p>
      <Button onPress={() => act(notice)}>{action === null ? text.app.close : action.label}</Button>
    </div>
  );
}
