/** Below a conversation: the ways to answer it, and the writer once a way is chosen or a draft exists. */
import { useQuery } from '@tanstack/react-query';
import type { ThreadEmail } from 'email-worker-client';
import { Forward, Reply, ReplyAll } from '../../ui/icons.tsx';
import { Suspense, lazy, useState } from 'react';
import { threadDraftQuery } from '../../api/queries.ts';
import { holdKeys } from '../../app/held-keys.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import type { WriterMode } from './writer.tsx';

/** Loaded apart: people who only read need no writer. */
const Writer = lazy(() => import('./writer.tsx'));

interface AnswerProps {
  readonly threadId: string;
  readonly customerId: string | null;
  readonly emails: readonly ThreadEmail[];
}

export function Answer(props: AnswerProps) {
  return useMay('draft') ? <AnswerOrDraft {...props} /> : null;
}

function AnswerOrDraft({ threadId, customerId, emails }: AnswerProps) {
  const { text } = useWords();
  const { name } = useSession();
  const draft = useQuery(threadDraftQuery(threadId, name)).data ?? null;
  /** The reader's choice; `draft` shows the existing draft, if any. */
  const [chosen, setChosen] = useState<WriterMode | 'draft' | 'none'>('draft');
  // Mail that did not go out and mail of machines are not answered.
  const newest =
    emails.findLast(({ written_by: writer }) => writer === 'person' || writer === 'unsure') ??
    emails.findLast(({ state, written_by: writer }) => state !== 'cancelled' && writer !== 'machine') ??
    emails.at(-1);
  const answer = (mode: WriterMode | 'draft') => () => {
    // A writer that is already open would not get the focus again.
    if (chosen !== mode) holdKeys();
    setChosen(mode);
  };
  useShortcuts({ r: answer('reply'), a: answer('reply_all'), f: answer('forward') });
  if (newest === undefined) return null;
  const answers = draft?.answers ?? null;
  const isContinued = answers !== null && chosen === 'draft';
  if (chosen === 'none' || (chosen === 'draft' && !isContinued))
    return (
      <div className="reply-buttons">
        <Button look="outline" onPress={answer(answers === null ? 'reply' : 'draft')}>
          <Reply size={16} aria-hidden />
          {text.write.reply}
        </Button>
        <Button look="outline" onPress={answer('reply_all')}>
          <ReplyAll size={16} aria-hidden />
          {text.write.replyAll}
        </Button>
        <Button look="outline" onPress={answer('forward')}>
          <Forward size={16} aria-hidden />
          {text.write.forward}
        </Button>
      </div>
    );
  return (
    <Suspense>
      <Writer
        key={isContinued ? draft?.id : chosen}
        threadId={threadId}
        customerId={customerId}
        emails={emails}
        replyTo={isContinued ? answers.email_id : newest.id}
        mode={isContinued ? answers.kind : (chosen as WriterMode)}
        draft={isContinued ? draft : null}
        onClose={(isDone) => setChosen(isDone ? 'draft' : 'none')}
      />
    </Suspense>
  );
}
