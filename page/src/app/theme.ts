/** Light or dark: as the system says, unless the reader chose one. The choice stays in this browser. */
import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'email-worker.theme';

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // A browser that keeps nothing shows the page all the same.
    return 'system';
  }
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  return [
    theme,
    (next) => {
      setTheme(next);
      applyTheme(next);
      try {
        localStorage.setItem(KEY, next);
      } catch {
        // The choice then lasts as long as this page.
      }
    },
  ];
}
