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

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, () => current), setTheme];
}
