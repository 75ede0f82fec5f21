/** Writes an answer to an email, or passes it on. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Draft, ReplyPreview } from 'email-worker-client';
import { keys, replyPreviewQuery } from '../../api/queries.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { formatAddresses, toField } from './addresses.ts';
import { WriterForm } from './writer-form.tsx';
import { bodyOf } from './writing-format.ts';

export type WriterMode = 'reply' | 'reply_all' | 'forward';

export interface WriterProps {
  readonly threadId: string;
  readonly customerId: string | null;
  /** The email that is answered or passed on. */
  readonly replyTo: string;
  readonly mode: WriterMode;
  /** What is continued; null: begun anew. */
  readonly draft: Draft | null;
  /** `isDone`: there is nothing to go on with. */
  readonly onClose: (isDone: boolean) => void;
}

/** Waits for whom it goes to. */
export default function Writer(props: WriterProps) {
  const preview = useQuery(replyPreviewQuery(props.replyTo, props.mode));
  const { text } = useWords();
  if (preview.isError)
    return (
      <p className="writer-problem" role="alert">
        {text.thread.changeFailed}{' '}
        <Button look="outline" onPress={() => void preview.refetch()}>
          {text.app.retry}
        </Button>
      </p>
    );
  return preview.data === undefined ? null : <AnswerForm {...props} preview={preview.data} />;
}

function AnswerForm(props: WriterProps & { readonly preview: ReplyPreview }) {
  const { preview, threadId, customerId, replyTo, mode, draft, onClose } = props;
  const { text } = useWords();
  const { name } = useSession();
  const queryClient = useQueryClient();
  const isForward = mode === 'forward';
  return (
    <WriterForm
      title={{ reply: text.write.reply, reply_all: text.write.replyAll, forward: text.write.forward }[mode]}
      note={text.write.quoteBelow}
      placeholder={text.write.placeholder}
      base={{ author: name, answers: { email_id: replyTo, kind: mode } }}
      draft={draft}
      initial={{
        to: toField(draft?.message.to) ?? formatAddresses(preview.to),
        cc: toField(draft?.message.cc) ?? formatAddresses(preview.cc),
        bcc: toField(draft?.message.bcc) ?? '',
        subject: draft?.message.subject ?? preview.subject,
        ...bodyOf(draft?.message),
      }}
      customerId={customerId}
      accountId={preview.account_id}
      alwaysCc={mode !== 'reply'}
      focus={isForward ? null : 'text'}
      mayBeEmpty={isForward}
      // Of the thread; the text of a forward may speak of what travels with it.
      hasOtherFiles={isForward && preview.attachments.length > 0}
      onKept={() => void queryClient.invalidateQueries({ queryKey: keys.threadDraft(threadId) })}
      onEnd={() => {
        queryClient.setQueryData(keys.threadDraft(threadId), null);
        void queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
        onClose(true);
      }}
      onTakenBack={(again) => queryClient.setQueryData(keys.threadDraft(threadId), again)}
      onClose={() => onClose(false)}
    />
  );
}
