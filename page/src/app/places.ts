/** Where a thread and its list are, for links and for keys. */
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Folder } from '../features/folders/folder.ts';

/** A thread as it is opened from a folder, or from what a search found. */
export function threadPlace(folder: Folder, threadId: string) {
  return folder.query === null
    ? ({ to: '/f/$folder/$threadId', params: { folder: folder.key, threadId } } as const)
    : ({ to: '/search/$threadId', params: { threadId }, search: { q: folder.query } } as const);
}

export function listPlace(folder: Folder) {
  return folder.query === null
    ? ({ to: '/f/$folder', params: { folder: folder.key } } as const)
    : ({ to: '/search', search: { q: folder.query } } as const);
}

/** In place of the identifier of a draft: one that is begun. */
export const NEW_DRAFT = 'new';

export const draftPlace = (draftId: string) => ({ to: '/write/$draftId', params: { draftId } }) as const;

interface Places {
  openThread(threadId: string): void;
  openDraft(draftId: string): void;
  openList(): void;
}

export function usePlaces(folder: Folder): Places {
  const navigate = useNavigate();
  return useMemo(
    () => ({
      openThread: (threadId) => void navigate(threadPlace(folder, threadId)),
      openDraft: (draftId) => void navigate(draftPlace(draftId)),
      openList: () => void navigate(listPlace(folder)),
    }),
    [navigate, folder],
  );
}
