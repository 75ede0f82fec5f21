/** The addresses of a thread and its list, for links and for keys. */
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { accountFolder, type Folder } from '../features/folders/folder.ts';
import { holdKeys } from './held-keys.ts';

/** A thread as it is opened from a folder, or from the results of a search. */
export function threadLink(folder: Folder, threadId: string) {
  return folder.query === null
    ? ({ to: '/f/$folder/$threadId', params: { folder: folder.key, threadId } } as const)
    : ({ to: '/search/$threadId', params: { threadId }, search: { q: folder.query } } as const);
}

export function listLink(folder: Folder) {
  return folder.query === null
    ? ({ to: '/f/$folder', params: { folder: folder.key } } as const)
    : ({ to: '/search', search: { q: folder.query } } as const);
}

/** Stands for the identifier of a draft that does not exist yet. */
export const NEW_DRAFT = 'new';

export const draftLink = (draftId: string) => ({ to: '/write/$draftId', params: { draftId } }) as const;

/** The account whose folder is open; null: another one is. */
function accountAt(pathname: string): string | null {
  const [, key = ''] = /^\/f\/([^/]+)/.exec(pathname) ?? [];
  const prefix = accountFolder('');
  const folder = decodeURIComponent(key);
  return folder.startsWith(prefix) ? folder.slice(prefix.length) : null;
}

/** Opens an empty writer, which gets all text typed from now on. */
export function useNewMessage(): () => void {
  const navigate = useNavigate();
  const router = useRouter();
  return useCallback(() => {
    // A writer that is already open would not get the focus again.
    if (router.state.location.pathname !== `/write/${NEW_DRAFT}`) holdKeys();
    const account = accountAt(router.state.location.pathname);
    void navigate({ ...draftLink(NEW_DRAFT), search: account === null ? {} : { account } });
  }, [navigate, router]);
}

interface Openers {
  openThread(threadId: string): void;
  openDraft(draftId: string): void;
  openList(): void;
}

export function useOpeners(folder: Folder): Openers {
  const navigate = useNavigate();
  return useMemo(
    () => ({
      openThread: (threadId) => void navigate(threadLink(folder, threadId)),
      openDraft: (draftId) => void navigate(draftLink(draftId)),
      openList: () => void navigate(listLink(folder)),
    }),
    [navigate, folder],
  );
}
