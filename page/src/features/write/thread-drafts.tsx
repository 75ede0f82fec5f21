/** The drafts of a thread that are not this person's answer: those of colleagues and of programs. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { keys, threadDraftsQuery } from '../../api/queries.ts';
import { useMay, useSession } from '../../app/session.tsx';

const OthersDraft = lazy(async () => ({ default: (await import('./others-draft.tsx')).OthersDraft }));

export function ThreadDrafts({ threadId }: { readonly threadId: string }) {
  const mayDraft = useMay('draft');
  const { name } = useSession();
  const queryClient = useQueryClient();
  const { data = [] } = useQuery({ ...threadDraftsQuery(threadId, name), enabled: mayDraft });
  if (!mayDraft || data.length === 0) return null;
  return (
    <Suspense>
      {data.map((draft) => (
        <OthersDraft
          key={draft.id}
          draft={draft}
          onTaken={(taken) => {
            queryClient.setQueryData(keys.threadDraft(threadId), taken);
            void queryClient.invalidateQueries({ queryKey: keys.threadDrafts(threadId) });
          }}
        />
      ))}
    </Suspense>
  );
}
