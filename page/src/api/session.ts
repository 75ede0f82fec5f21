/** The logged-in session. The session itself is a cookie that no script can read. */
import { PAGE_HEADERS } from './client.ts';

export interface Session {
  /** The name of the key; for the secret `API_SECRET`, with its number. */
  readonly name: string;
  readonly rights: readonly string[];
  /** The accounts that the session may see; null: all. */
  readonly accounts: readonly string[] | null;
  readonly key_id: string | null;
  readonly expires_at: string;
  /** For the files of an email: their total size in bytes, and their number. */
  readonly limits: { readonly attachment_bytes: number; readonly attachments: number };
}

export type Credential = { readonly secret: string } | { readonly token: string };

/** The reason why logging in failed: the credential is wrong, there were too many tries, or the service can't be reached. */
export type LoginFailure = 'refused' | 'throttled' | 'unreachable';

const PATH = '/api/session';

/** null: not logged in. Throws when the service does not answer. */
export async function readSession(signal?: AbortSignal): Promise<Session | null> {
  const response = await fetch(PATH, { signal: signal ?? null, headers: PAGE_HEADERS });
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`GET ${PATH}: ${response.status}`);
  return ((await response.json()) as { session: Session }).session;
}

export async function logIn(credential: Credential): Promise<Session | LoginFailure> {
  try {
    const response = await fetch(PATH, {
      method: 'POST',
      headers: { ...PAGE_HEADERS, 'Content-Type': 'application/json' },
      body: JSON.stringify(credential),
    });
    if (response.ok) return ((await response.json()) as { session: Session }).session;
    if (response.status === 429) return 'throttled';
    return response.status >= 500 ? 'unreachable' : 'refused';
  } catch {
    return 'unreachable';
  }
}

/** Ends this session, or with `everywhere` all sessions of its key. Throws when the service does not answer. */
export async function logOut(everywhere: boolean): Promise<void> {
  const path = everywhere ? '/api/sessions' : PATH;
  const response = await fetch(path, { method: 'DELETE', headers: PAGE_HEADERS });
  if (!response.ok && response.status !== 401) throw new Error(`DELETE ${path}: ${response.status}`);
}

/** The one-time token of a link such as `/#token=…`; it is removed from the address, so that no history keeps it. */
export function takeToken(): string | null {
  const token = new URLSearchParams(globalThis.location.hash.slice(1)).get('token');
  if (token === null) return null;
  history.replaceState(history.state, '', globalThis.location.pathname + globalThis.location.search);
  return token;
}
