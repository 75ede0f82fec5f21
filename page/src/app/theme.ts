/** Light or dark: the system's setting, unless the reader chose one. The choice is kept in this browser. */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'email-worker.theme';

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // The page also works in a browser that stores nothing.
    return 'system';
  }
}

let current = readTheme();
const listeners = new Set<() => void>();

export function applyTheme(): void {
  if (current === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = current;
}

function setTheme(theme: Theme): void {
  current = theme;
  applyTheme();
  for (const listener of listeners) listener();
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice then lasts until the page is closed.
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const DARK = matchMedia('(prefers-color-scheme: dark)');

function subscribeLook(listener: () => void): () => void {
  DARK.addEventListener('change', listener);
  const stop = subscribe(listener);
  return () => {
    DARK.removeEventListener('change', listener);
    stop();
  };
}

/** What the reader sees, by choice or by the setting of the system. */
export const useLook = (): 'light' | 'dark' =>
  useSyncExternalStore(subscribeLook, () =>
    current === 'system' ? (DARK.matches ? 'dark' : 'light') : current,
  );

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, () => current), setTheme];
}
