/** The session of the person who uses the page, for everything below it. */
import { createContext, use } from 'react';
import type { Session } from '../api/session.ts';

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('there is no session here');
  return session;
}

/** True if this session has the right; the service checks it again. */
export const useMay = (right: string): boolean => hasRight(useSession().rights, right);

export function hasRight(rights: readonly string[], right: string): boolean {
  return (
    rights.includes(right) || rights.includes('admin') || (right === 'handle' && rights.includes('operate'))
  );
}
