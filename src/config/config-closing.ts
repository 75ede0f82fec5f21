/** Reads the signature and the footer of an account, and the signature of one of its addresses. */
import type { ClosingText } from '../core/accounts/closing.ts';
import { MAX_CLOSING_CHARS } from '../core/accounts/limits.ts';
import { ConfigError } from './config-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `footer_text` and `footer_html`, or those of a signature. Throws ConfigError. @param nameOf the name of a field, for messages */
export function readClosing(
  kind: 'signature' | 'footer',
  fields: Fields,
  nameOf: (field: string) => string,
): ClosingText | null {
  const textOf = (field: string): string | null => {
    const value = fields[field] ?? null;
    if (value === null) return null;
    if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_CLOSING_CHARS)
      throw new ConfigError(nameOf(field), `must be text of at most ${MAX_CLOSING_CHARS} characters`);
    return value;
  };
  const text = textOf(`${kind}_text`);
  const html = textOf(`${kind}_html`);
  if (text !== null) return { text, html };
  if (html !== null)
    throw new ConfigError(nameOf(`${kind}_html`), `needs ${kind}_text, for emails in plain text`);
  return null;
}

export function readFlag(where: string, value: unknown): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw new ConfigError(where, 'must be true or false');
  return value === true;
}
