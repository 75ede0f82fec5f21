/** Whether new messages are formatted or plain text: as it was chosen last, kept in this browser. */
import type { Body } from './body.ts';

const KEY = 'email-worker.writes-plain';

export function writesPlain(): boolean {
  try {
    return localStorage.getItem(KEY) === 'yes';
  } catch {
    // A browser that keeps nothing writes with formatting.
    return false;
  }
}

export function keepWritesPlain(isPlain: boolean): void {
  try {
    if (isPlain) localStorage.setItem(KEY, 'yes');
    else localStorage.removeItem(KEY);
  } catch {
    // The choice then counts for this message alone.
  }
}

/** What a draft says, in the form that it was written in. */
export function bodyOf(message: Partial<Record<keyof Body, string | null>> = {}): Body {
  const text = message.text_body ?? '';
  const isPlain = text === '' ? writesPlain() : true;
  return { text_body: text, html_body: message.html_body ?? (isPlain ? null : '') };
}
