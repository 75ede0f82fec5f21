/** A draft of another person: read, and continued only after it was taken over. */
import { useQueryClient } from '@tanstack/react-query';
import type { Draft } from 'email-worker-client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { refreshLists } from '../../api/live.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { notify } from '../../ui/toast.tsx';
import { toField } from './addresses.ts';
import { draftAuthor } from './draft-author.ts';
import './others-draft.css';

interface OthersDraftProps {
  readonly draft: Draft;
  /** Receives the draft as one of this person. */
  readonly onTaken: (draft: Draft) => void;
}

export function OthersDraft({ draft, onTaken }: OthersDraftProps) {
  const { text, format } = useWords();
  const { name } = useSession();
  const queryClient = useQueryClient();
  const [isTaking, setTaking] = useState(false);
  const take = async (): Promise<void> => {
    setTaking(true);
    try {
      onTaken(await client.drafts.change(draft.id, draft.version, { author: name }));
      refreshLists(queryClient);
    } catch {
      notify(text.write.notTaken);
      setTaking(false);
    }
  };
  const author = draftAuthor(draft);
  const lines = [
    [text.write.to, toField(draft.message.to)],
    [text.write.subject, draft.message.subject],
  ] as const;
  return (
    <article className="others-draft">
      <header className="others-draft-head">
        <p className="others-draft-title">
          {author === null ? text.write.draft : text.write.draftOf(shown(author))}
          <time dateTime={draft.updated_at}>{format.full(draft.updated_at)}</time>
        </p>
        <Button look="outline" isPending={isTaking} onPress={() => void take()}>
          {text.write.takeOver}
        </Button>
      </header>
      <dl className="others-draft-lines">
        {lines
          .filter(([, value]) => (value ?? '') !== '')
          .map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{shown(value ?? '')}</dd>
            </div>
          ))}
      </dl>
      <p className="others-draft-text">{shown(draft.message.text_body ?? '').trim()}</p>
    </article>
  );
}
