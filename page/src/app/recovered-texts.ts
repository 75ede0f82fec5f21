/** When a person logs in: gives the service the texts that this browser kept for them. When they log out: keeps nothing. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../api/client.ts';
import { refreshLists } from '../api/live.ts';
import type { Session } from '../api/session.ts';
import { accountOf, deviceCopies } from '../features/write/device-copies.ts';
import { deleteDiscarded, deleteLeft } from '../features/write/discarded-drafts.ts';
import { awaitForDrafts, saveOpenDrafts } from '../features/write/draft-keeper.ts';
import { draftStore } from '../features/write/draft-store.ts';
import { recoverTexts } from '../features/write/recover-texts.ts';
import { useWords } from '../i18n/index.tsx';
import { notify } from '../ui/toast.tsx';

/** The lists of drafts wait until the texts are among them. */
function recover(queryClient: QueryClient, session: Session, said: string): null {
  const mayDraft = session.rights.some((right) => right === 'draft' || right === 'admin');
  if (!mayDraft) return null;
  const work = deleteLeft((id) => client.drafts.delete(id))
    .then(() => recoverTexts({ drafts: draftStore, copies: deviceCopies }, accountOf(session)))
    .then((count) => {
      if (count === 0) return;
      notify(said);
      refreshLists(queryClient);
      void queryClient.invalidateQueries({ queryKey: ['draft'] });
    });
  awaitForDrafts(work);
  return null;
}

export function useRecoveredTexts(session: Session): void {
  const queryClient = useQueryClient();
  const { text } = useWords();
  useState(() => recover(queryClient, session, text.write.recovered));
  useEffect(() => {
    addEventListener('pagehide', deleteDiscarded);
    return () => removeEventListener('pagehide', deleteDiscarded);
  }, []);
}

/** Before a person logs out: the service gets every text, and none stays in the browser. */
export async function handOverTexts(session: Session): Promise<void> {
  deleteDiscarded();
  await saveOpenDrafts();
  await recoverTexts({ drafts: draftStore, copies: deviceCopies }, accountOf(session));
}

export const forgetTexts = (session: Session): void => deviceCopies.dropAll(accountOf(session));
