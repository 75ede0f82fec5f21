/** Remembers whether new messages are formatted or plain text: the last choice, kept in this browser. */
import type { Body } from './body.ts';

const KEY = 'email-worker.writes-plain';

export function writesPlain(): boolean {
  try {
    return localStorage.getItem(KEY) === 'yes';
  } catch {
    // A browser that stores nothing writes formatted text.
    return false;
  }
}

export function keepWritesPlain(isPlain: boolean): void {
  try {
    if (isPlain) localStorage.setItem(KEY, 'yes');
    else localStorage.removeItem(KEY);
  } catch {
    // The choice then applies to this message alone.
  }
}

/** The text of a draft, in the form in which it was written. */
export function bodyOf(message: Partial<Record<keyof Body, string | null>> = {}): Body {
  const text = message.text_body ?? '';
  const isPlain = text === '' ? writesPlain() : true;
  return { text_body: text, html_body: message.html_body ?? (isPlain ? null : '') };
}
