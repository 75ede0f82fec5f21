/** What a failed request says of itself, whichever class its error has. */
import type { EmailWorkerError } from 'email-worker-client';
import type { Language } from '../i18n/format.ts';

/** The stable code; null for an error that no request caused. */
export function codeOf(error: unknown): string | null {
  const { code } = Object(error) as { readonly code?: unknown };
  return error instanceof Error && typeof code === 'string' ? code : null;
}

/** True when no answer arrived: the service may have carried out the request, or not. */
export const hasNoAnswer = (error: unknown): boolean =>
  codeOf(error) !== null && (error as { readonly status?: unknown }).status === null;

/** What the service says of it, in the language of the page: of several mistakes, all of them. */
export function reasonOf({ problems, text, englishText }: EmailWorkerError, language: Language): string {
  const texts = problems.map(({ error, message }) => (language === 'de' ? error : message));
  return texts.length === 0 ? (language === 'de' ? text : englishText) : [...new Set(texts)].join('; ');
}
