/** Writes an answer to an email, or forwards it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Draft, ReplyPreview, ThreadEmail } from 'email-worker-client';
import { useState } from 'react';
import { accountsQuery, keys, replyPreviewQuery } from '../../api/queries.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { formatAddresses, toField } from './addresses.ts';
import type { Answers } from './draft-keeper.ts';
import { newestSeen } from './newest-seen.ts';
import { fromOf, sendersOf } from './senders.ts';
import { WriterForm } from './writer-form.tsx';
import { bodyOf } from './writing-format.ts';

export type WriterMode = 'reply' | 'reply_all' | 'forward';

export interface WriterProps {
  readonly threadId: string;
  readonly customerId: string | null;
  /** Those of the thread that are on screen. */
  readonly emails: readonly ThreadEmail[];
  /** The email that is answered or forwarded. */
  readonly replyTo: string;
  readonly mode: WriterMode;
  /** The draft that is continued; null: a new one is begun. */
  readonly draft: Draft | null;
  /** `isDone`: nothing is left to continue. */
  readonly onClose: (isDone: boolean) => void;
}

const browserTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Waits until the recipients are known. */
export default function Writer(props: WriterProps) {
  const { replyTo, mode, draft } = props;
  const { text, language } = useWords();
  const kept = draft?.answers;
  const answers: Answers = {
    email_id: kept?.email_id ?? replyTo,
    kind: kept?.kind ?? mode,
    quote: kept?.quote ?? true,
    with_files: kept?.with_files ?? true,
    // Recipients of the quote read when the email was written; the service alone would use its own language and UTC.
    language: kept?.language ?? language,
    time_zone: kept?.time_zone ?? browserTimeZone(),
  };
  const preview = useQuery(replyPreviewQuery(answers));
  if (preview.isError)
    return (
      <p className="writer-problem" role="alert">
        {text.thread.changeFailed}{' '}
        <Button look="outline" onPress={() => void preview.refetch()}>
          {text.app.retry}
        </Button>
      </p>
    );
  return preview.data === undefined ? null : (
    <AnswerForm {...props} answers={answers} preview={preview.data} />
  );
}

interface AnswerFormProps extends WriterProps {
  readonly answers: Answers;
  readonly preview: ReplyPreview;
}

function AnswerForm(props: AnswerFormProps) {
  const { answers, preview, threadId, customerId, mode, draft, onClose } = props;
  const { text } = useWords();
  const { name } = useSession();
  const queryClient = useQueryClient();
  const isForward = mode === 'forward';
  const accounts = useQuery(accountsQuery).data ?? [];
  // The answered email decides the account.
  const senders = sendersOf(accounts.filter(({ id }) => id === preview.account_id));
  const [seen] = useState(() => newestSeen(props.emails, draft?.created_at ?? null) ?? answers.email_id);
  return (
    <WriterForm
      title={{ reply: text.write.reply, reply_all: text.write.replyAll, forward: text.write.forward }[mode]}
      placeholder={isForward ? text.write.forwardPlaceholder : text.write.placeholder}
      author={name}
      answers={answers}
      preview={preview}
      draft={draft}
      initial={{
        to: toField(draft?.message.to) ?? formatAddresses(preview.to),
        cc: toField(draft?.message.cc) ?? formatAddresses(preview.cc),
        bcc: toField(draft?.message.bcc) ?? '',
        subject: draft?.message.subject ?? shown(preview.subject),
        ...bodyOf(draft?.message),
        from: fromOf(draft?.message.from),
        from_name: draft?.message.from_name ?? null,
        signature: draft === null || draft.message.signature === true,
      }}
      senders={senders}
      usualSender={preview.from}
      customerId={customerId}
      newestSeen={seen}
      accountId={preview.account_id}
      alwaysCc={mode !== 'reply'}
      focus={isForward ? 'to' : 'text'}
      onKept={() => void queryClient.invalidateQueries({ queryKey: keys.threadDraft(threadId) })}
      onEnd={() => {
        queryClient.setQueryData(keys.threadDraft(threadId), null);
        void queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
        onClose(true);
      }}
      onTakenBack={(again) => queryClient.setQueryData(keys.threadDraft(threadId), again)}
      onMovedOn={() => void queryClient.invalidateQueries({ queryKey: keys.thread(threadId) })}
      onClose={() => onClose(false)}
    />
  );
}
