/** Writes a new message, in place of a thread. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCanGoBack, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { EmailWorkerError, type Account, type Draft } from 'email-worker-client';
import { ArrowLeft, FilePen } from '../../ui/icons.tsx';
import { refreshLists } from '../../api/live.ts';
import { accountsQuery, draftQuery, keys } from '../../api/queries.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Empty, Failure } from '../../ui/empty.tsx';
import { toField } from './addresses.ts';
import { draftAuthor } from './draft-author.ts';
import { OthersDraft } from './others-draft.tsx';
import { fromOf, sendersOf } from './senders.ts';
import { WriterForm } from './writer-form.tsx';
import { bodyOf } from './writing-format.ts';

/** The account that the service sends from by default. */
const DEFAULT_ACCOUNT = 'default';

interface NewMessageProps {
  /** The draft that is continued; null: a new message. */
  readonly draftId: string | null;
}

export default function NewMessage({ draftId }: NewMessageProps) {
  const { text } = useWords();
  const { accounts: visible, name } = useSession();
  const queryClient = useQueryClient();
  const draft = useQuery({ ...draftQuery(draftId ?? ''), enabled: draftId !== null });
  const accounts = useQuery(accountsQuery);
  const back = useBack();
  const isOthers = draft.data !== undefined && draftAuthor(draft.data) !== name;
  const isReady = (draftId === null || draft.isSuccess) && !accounts.isPending;
  const senders = (accounts.data ?? []).filter(
    ({ id, from_address: from }) => from !== null && (visible === null || visible.includes(id)),
  );
  return (
    <div className="new-message">
      <header className="new-message-head">
        <IconButton icon={ArrowLeft} label={text.app.back} onPress={back} />
        <h1>{text.write.newTitle}</h1>
      </header>
      {draft.isError ? (
        isGone(draft.error) ? (
          <Empty icon={FilePen} title={text.write.draftGone} />
        ) : (
          <Failure title={text.app.unreachable} onRetry={() => void draft.refetch()} />
        )
      ) : (
        isReady &&
        (isOthers ? (
          <OthersDraft
            draft={draft.data}
            onTaken={(taken) => queryClient.setQueryData(keys.draft(taken.id), taken)}
          />
        ) : (
          <Message draft={draft.data ?? null} accounts={senders} onLeave={back} />
        ))
      )}
    </div>
  );
}

const isGone = (error: Error): boolean =>
  error instanceof EmailWorkerError && error.code === 'draft_not_found';

/** Goes back to the view from which the writer was opened. */
function useBack(): () => void {
  const router = useRouter();
  const navigate = useNavigate();
  const canGoBack = useCanGoBack();
  return () => {
    if (canGoBack) router.history.back();
    else void navigate({ to: '/f/$folder', params: { folder: 'drafts' } });
  };
}

interface MessageProps {
  readonly draft: Draft | null;
  readonly accounts: readonly Account[];
  readonly onLeave: () => void;
}

function Message({ draft, accounts, onLeave }: MessageProps) {
  const { text } = useWords();
  const { name } = useSession();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const message = draft?.message ?? {};
  const { account: wanted } = useSearch({ strict: false }) as { readonly account?: string };
  const sender =
    draft?.account_id ??
    (
      accounts.find(({ id }) => id === wanted) ??
      accounts.find(({ id }) => id === DEFAULT_ACCOUNT) ??
      accounts[0]
    )?.id;
  return (
    <WriterForm
      title={text.write.newTitle}
      placeholder={text.write.newPlaceholder}
      author={name}
      answers={null}
      preview={null}
      draft={draft}
      initial={{
        to: toField(message.to) ?? '',
        cc: toField(message.cc) ?? '',
        bcc: toField(message.bcc) ?? '',
        subject: message.subject ?? '',
        ...bodyOf(message),
        from: fromOf(message.from),
        from_name: message.from_name ?? null,
        signature: draft === null || message.signature === true,
        ...(sender === undefined ? {} : { account_id: sender }),
      }}
      senders={sendersOf(accounts)}
      usualSender={null}
      customerId={null}
      newestSeen={null}
      onMovedOn={() => undefined}
      focus="to"
      needsSubject
      onKept={() => refreshLists(queryClient)}
      onEnd={onLeave}
      onTakenBack={(again) => void navigate({ to: '/write/$draftId', params: { draftId: again.id } })}
      onClose={onLeave}
    />
  );
}
