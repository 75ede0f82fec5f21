/** A thread as a conversation: the oldest email at the top, the newest at the end and in sight. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { ArrowLeft, MailX } from '../../ui/icons.tsx';
import { EmailWorkerError } from 'email-worker-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useMarkRead } from '../../api/actions.ts';
import { threadQuery } from '../../api/queries.ts';
import { useOpeners } from '../../app/links.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useWords } from '../../i18n/index.tsx';
import { Bones } from '../../ui/bones.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Empty, Failure } from '../../ui/empty.tsx';
import { shown } from '../../ui/shown.ts';
import type { Folder } from '../folders/folder.ts';
import { Marked } from '../search/marked.tsx';
import { hasHit } from '../search/search-terms.ts';
import { Answer } from '../write/answer.tsx';
import { ThreadDrafts } from '../write/thread-drafts.tsx';
import { Message } from './message.tsx';
import { useKeptMessage } from './use-kept-message.ts';
import { usePrint } from './use-print.ts';
import { SidePanel } from './side-panel.tsx';
import { ThreadActionBar } from './thread-actions.tsx';
import './thread.css';

interface ThreadViewProps {
  readonly folder: Folder;
  readonly threadId: string;
  /** The reader has finished with the thread for now: the next one is shown. */
  readonly onLeave: () => void;
}

export function ThreadView({ folder, threadId, onLeave }: ThreadViewProps) {
  const { text } = useWords();
  const { openList } = useOpeners(folder);
  const query = useInfiniteQuery(threadQuery(threadId));
  const pages = query.data?.pages;
  const thread = pages?.[0]?.thread;
  const emails = useMemo(() => (pages ?? []).flatMap((page) => page.emails).reverse(), [pages]);
  const scrollRef = useRef<HTMLDivElement>(null);
  useMarkRead(thread);
  const { printed, print } = usePrint();
  const [isSideOpen, setSideOpen] = useState(false);
  useShortcuts(isSideOpen ? {} : { Escape: openList });
  const lastId = emails.at(-1)?.id;
  const sender = emails.findLast(({ direction }) => direction === 'inbound')?.from_address.address ?? null;
  const isReported = emails.some(({ undelivered }) => undelivered !== null);
  useKeptMessage(threadId, lastId, scrollRef);
  const subject = thread === undefined ? undefined : shown(thread.subject);
  useTitle(subject);
  if (query.isError && thread === undefined)
    return query.error instanceof EmailWorkerError && query.error.status === 404 ? (
      <Empty icon={MailX} title={text.thread.notFound} />
    ) : (
      <Failure title={text.thread.failed} onRetry={() => void query.refetch()} />
    );
  const printAll = async (): Promise<void> => {
    for (let hasMore = query.hasNextPage; hasMore;) ({ hasNextPage: hasMore } = await query.fetchNextPage());
    print('all');
  };
  return (
    <div className="thread-and-side">
      <div className="thread">
        <header className="thread-head">
          <span className="thread-back">
            <IconButton icon={ArrowLeft} label={text.app.back} onPress={openList} />
          </span>
          <h1 className="thread-subject" title={subject}>
            {subject === undefined ? (
              <span className="bone" />
            ) : (
              <Marked of="subject">{subject || text.list.noSubject}</Marked>
            )}
          </h1>
          {thread !== undefined && (
            <ThreadActionBar
              thread={thread}
              sender={sender}
              isSideOpen={isSideOpen}
              onSide={() => setSideOpen(!isSideOpen)}
              onPrint={() => void printAll()}
              onLeave={onLeave}
            />
          )}
        </header>
        <div className="thread-scroll" ref={scrollRef} tabIndex={-1}>
          {thread !== undefined && thread.labels.length > 0 && (
            <ul className="thread-labels" aria-label={text.thread.labels}>
              {thread.labels.map((label) => (
                <li key={label} className="chip">
                  {label}
                </li>
              ))}
            </ul>
          )}
          <div className="conversation">
            {thread === undefined && <Bones className="thread-bones" count={3} />}
            {query.hasNextPage && (
              <Button
                look="outline"
                isPending={query.isFetchingNextPage}
                onPress={() => void query.fetchNextPage()}
              >
                {text.thread.earlier}
              </Button>
            )}
            <section aria-label={text.thread.emails}>
              {emails.map((email) => (
                <Message
                  key={email.id}
                  threadId={threadId}
                  email={email}
                  printed={printed}
                  onPrint={() => print(email.id)}
                  isOpenAtFirst={
                    // What a mail server reports stands in plain words above the email that it is about.
                    (!(email.automatic === 'bounce' && isReported) &&
                      (email.id === lastId || email.unread)) ||
                    email.state === 'failed' ||
                    email.undelivered !== null ||
                    hasHit(email.text_body, folder.search?.terms.text ?? [])
                  }
                />
              ))}
            </section>
            {thread !== undefined && <ThreadDrafts threadId={thread.id} />}
            {thread !== undefined && query.isSuccess && (
              <Answer threadId={thread.id} customerId={thread.customer_id} emails={emails} />
            )}
          </div>
        </div>
      </div>
      {isSideOpen && thread !== undefined && (
        <SidePanel thread={thread} emails={emails} onClose={() => setSideOpen(false)} />
      )}
    </div>
  );
}

function useTitle(subject: string | undefined): void {
  const { text } = useWords();
  useEffect(() => {
    if (subject !== undefined && subject !== '') document.title = `${subject} – ${text.app.name}`;
    return () => {
      document.title = text.app.name;
    };
  }, [subject, text]);
}
