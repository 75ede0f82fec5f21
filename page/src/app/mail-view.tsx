/** The list of a folder, and the thread chosen from it. */
import { KeyRound, MailOpen } from '../ui/icons.tsx';
import { lazy, Suspense, useRef } from 'react';
import type { Folder } from '../features/folders/folder.ts';
import { ThreadView } from '../features/thread/thread-view.tsx';
import { ThreadList } from '../features/threads/thread-list.tsx';
import { useWords } from '../i18n/index.tsx';
import { Empty } from '../ui/empty.tsx';
import { Terms } from '../features/search/marked.tsx';
import { NO_TERMS } from '../features/search/search-language.ts';
import { NEW_DRAFT } from './links.ts';
import { useMay } from './session.tsx';
import './mail-view.css';
import './print.css';

/** Loaded apart: people who only read need no writer. */
const NewMessage = lazy(() => import('../features/write/new-message.tsx'));

interface MailViewProps {
  readonly folder: Folder;
  /** null: no thread is chosen. */
  readonly threadId: string | null;
  /** The message that is written in place of a thread: a draft, or `NEW_DRAFT`. */
  readonly draftId?: string | null;
}

export function MailView({ folder, threadId, draftId = null }: MailViewProps) {
  const { text } = useWords();
  const mayRead = useMay('read');
  // Only the list can tell which thread is next.
  const leave = useRef<() => void>(() => undefined);
  if (!mayRead)
    return (
      <main className="pane-rest" id="list" tabIndex={-1}>
        <h1 className="hidden-text">{text.app.name}</h1>
        <Empty icon={KeyRound} title={text.app.mayNotRead} hint={text.app.mayNotReadHint} />
      </main>
    );
  return (
    <Terms value={folder.search?.terms ?? NO_TERMS}>
      <div className="mail-view" data-shows={threadId === null && draftId === null ? 'list' : 'thread'}>
        <ThreadList folder={folder} threadId={threadId} draftId={draftId} leaveRef={leave} />
        <main className="pane-thread" id="thread">
          {draftId !== null ? (
            <Suspense>
              <NewMessage key={draftId} draftId={draftId === NEW_DRAFT ? null : draftId} />
            </Suspense>
          ) : threadId === null ? (
            <Empty icon={MailOpen} title={text.thread.none} hint={text.thread.noneHint} />
          ) : (
            <ThreadView key={threadId} folder={folder} threadId={threadId} onLeave={() => leave.current()} />
          )}
        </main>
      </div>
    </Terms>
  );
}
