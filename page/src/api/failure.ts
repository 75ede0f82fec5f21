/** What a failed request says of itself, whichever class its error has. */

/** The stable code; null for an error that no request caused. */
export function codeOf(error: unknown): string | null {
  const { code } = Object(error) as { readonly code?: unknown };
  return error instanceof Error && typeof code === 'string' ? code : null;
}

/** True when no answer arrived: the service may have carried out the request, or not. */
export const hasNoAnswer = (error: unknown): boolean =>
  codeOf(error) !== null && (error as { readonly status?: unknown }).status === null;
