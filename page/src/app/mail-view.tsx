/** The list of a folder, and the thread that was chosen from it. */
import { MailOpen } from 'lucide-react';
import { useRef } from 'react';
import type { Folder } from '../features/folders/folder.ts';
import { ThreadView } from '../features/thread/thread-view.tsx';
import { ThreadList } from '../features/threads/thread-list.tsx';
import { useWords } from '../i18n/index.tsx';
import { Empty } from '../ui/empty.tsx';
import './mail-view.css';

interface MailViewProps {
  readonly folder: Folder;
  /** null: none is chosen. */
  readonly threadId: string | null;
}

export function MailView({ folder, threadId }: MailViewProps) {
  const { text } = useWords();
  // The list knows which thread is next.
  const leave = useRef<() => void>(() => undefined);
  return (
    <div className="mail-view" data-shows={threadId === null ? 'list' : 'thread'}>
      <ThreadList folder={folder} threadId={threadId} leaveRef={leave} />
      <main className="pane-thread" id="thread">
        {threadId === null ? (
          <Empty icon={MailOpen} title={text.thread.none} hint={text.thread.noneHint} />
        ) : (
          <ThreadView key={threadId} folder={folder} threadId={threadId} onLeave={() => leave.current()} />
        )}
      </main>
    </div>
  );
}
