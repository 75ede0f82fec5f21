/** Writes an answer to an email, or passes it on. What is written is kept as a draft, and may be taken back for some seconds. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { EmailWorkerError, type Draft, type ReplyPreview } from 'email-worker-client';
import { Send, Trash2 } from 'lucide-react';
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { client } from '../../api/client.ts';
import { refreshLists } from '../../api/live.ts';
import { keys, replyPreviewQuery } from '../../api/queries.ts';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { notify } from '../../ui/toast.tsx';
import { formatAddresses, toField } from './addresses.ts';
import { DraftKeeper, type Fields, type KeeperState } from './draft-keeper.ts';
import './writer.css';

export type WriterMode = 'reply' | 'reply_all' | 'forward';

export interface WriterProps {
  readonly threadId: string;
  /** The email that is answered or passed on. */
  readonly replyTo: string;
  readonly mode: WriterMode;
  /** What is continued; null: begun anew. */
  readonly draft: Draft | null;
  /** `isDone`: there is nothing to go on with. */
  readonly onClose: (isDone: boolean) => void;
}

/** How long a send can be taken back. */
const UNDO_MS = 10_000;
/** The notice goes a little before, so that who is late is not told that it worked. */
const UNDO_SHOWN_MS = 9000;

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
  return preview.data === undefined ? null : <Form {...props} preview={preview.data} />;
}

function Form({ preview, ...props }: WriterProps & { readonly preview: ReplyPreview }) {
  const { threadId, replyTo, mode, draft, onClose } = props;
  const { text } = useWords();
  const { name } = useSession();
  const maySend = useMay('send');
  const queryClient = useQueryClient();
  const id = useId();
  const [state, setState] = useState<KeeperState>(draft === null ? 'idle' : 'saved');
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [fields, setFields] = useState(() => ({
    to: toField(draft?.message.to) ?? formatAddresses(preview.to),
    cc: toField(draft?.message.cc) ?? formatAddresses(preview.cc),
    subject: draft?.message.subject ?? preview.subject,
    text_body: draft?.message.text_body ?? '',
  }));
  const [keeper] = useState(
    () => new DraftKeeper({ author: name, answers: { email_id: replyTo, kind: mode } }, draft, setState),
  );
  // The text is kept when the reader goes elsewhere, and the draft is found again when they come back.
  useEffect(() => {
    keeper.open();
    return () => {
      void keeper.close().then(() => queryClient.invalidateQueries({ queryKey: keys.threadDraft(threadId) }));
    };
  }, [keeper, queryClient, threadId]);
  const change = (changed: Partial<typeof fields>): void => {
    setFields({ ...fields, ...changed });
    setProblem(null);
    keeper.change(changed);
  };
  const send = async (): Promise<void> => {
    const lack =
      fields.to.trim() === ''
        ? text.write.noRecipient
        : fields.text_body.trim() === '' && mode !== 'forward'
          ? text.write.noText
          : null;
    setProblem(lack);
    if (lack !== null || isSending) return;
    setSending(true);
    try {
      const message: Fields = { ...fields, send_at: new Date(Date.now() + UNDO_MS).toISOString() };
      const version = await keeper.flush(message);
      const sent = await client.drafts.send(version.id, version.version);
      keeper.forget();
      queryClient.setQueryData(keys.threadDraft(threadId), null);
      onClose(true);
      const takeBack = async (): Promise<void> => {
        try {
          if (!('id' in sent)) throw new Error('it was sent at once');
          await client.emails.cancel(sent.id);
        } catch {
          notify(text.write.tooLate);
          return;
        }
        const again = await client.drafts.create({
          author: name,
          answers: { email_id: replyTo, kind: mode },
          message: fields,
        });
        queryClient.setQueryData(keys.threadDraft(threadId), again);
        notify(text.write.undone);
      };
      notify(text.write.willSend, {
        action: { label: text.app.undo, run: () => void takeBack().catch(() => notify(text.write.notSaved)) },
        lastsMs: UNDO_SHOWN_MS,
      });
      void queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
      refreshLists(queryClient);
    } catch (error) {
      setSending(false);
      const reason = error instanceof EmailWorkerError ? error.text : '';
      setProblem(
        error instanceof EmailWorkerError && error.code === 'draft_changed'
          ? text.write.elsewhere
          : `${text.write.failed} ${reason}`,
      );
    }
  };
  const discard = async (): Promise<void> => {
    try {
      await keeper.discard();
      queryClient.setQueryData(keys.threadDraft(threadId), null);
      refreshLists(queryClient);
      notify(text.write.discarded);
      onClose(true);
    } catch {
      setProblem(text.thread.changeFailed);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && maySend) {
      event.preventDefault();
      void send();
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      onClose(false);
    }
  };
  const line = (field: 'to' | 'cc' | 'subject', label: string) => (
    <div className="writer-field">
      <label htmlFor={`${id}-${field}`}>{label}</label>
      <input
        id={`${id}-${field}`}
        value={fields[field]}
        onChange={(event) => change({ [field]: event.target.value })}
        onKeyDown={onKeyDown}
        autoComplete="off"
        spellCheck={field === 'subject'}
      />
    </div>
  );
  const states: Readonly<Record<KeeperState, string>> = {
    idle: '',
    saving: text.write.saving,
    saved: text.write.saved,
    failed: text.write.notSaved,
    elsewhere: text.write.elsewhere,
  };
  const title = { reply: text.write.reply, reply_all: text.write.replyAll, forward: text.write.forward }[
    mode
  ];
  return (
    <section className="writer" aria-label={title}>
      {line('to', text.write.to)}
      {line('cc', text.write.cc)}
      {line('subject', text.write.subject)}
      <textarea
        aria-label={text.write.text}
        placeholder={text.write.placeholder}
        value={fields.text_body}
        onChange={(event) => change({ text_body: event.target.value })}
        onKeyDown={onKeyDown}
        autoFocus={mode !== 'forward'}
      />
      <p className="writer-note">{text.write.quoteBelow}</p>
      {problem !== null && (
        <p className="writer-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="writer-foot">
        {maySend && (
          <Button look="primary" onPress={() => void send()} isPending={isSending}>
            <Send size={16} aria-hidden />
            {text.write.send}
          </Button>
        )}
        <p className="writer-state truncate" role="status">
          {states[state]}
        </p>
        <IconButton icon={Trash2} label={text.write.discard} onPress={() => void discard()} />
      </div>
    </section>
  );
}
