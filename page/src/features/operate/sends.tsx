/** Unsent mail: waiting emails, failed ones, and those that an operator must decide about. */
import { Link } from '@tanstack/react-router';
import type { EmailListing } from 'email-worker-client';
import { MailCheck } from '../../ui/icons.tsx';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../app/session.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { sendReasonOf, type UndeliveredReason } from '../thread/undelivered-reason.ts';
import { Confirm } from './confirm.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';

/** States that need a person come first. */
const STATES = ['unknown', 'failed', 'deferred', 'queued', 'cancelled'] as const;
type State = (typeof STATES)[number];
const PAGE = 50;
const MAX_NAMED = 3;

export function Sends() {
  const { operate, format } = useOperateWords();
  const words = operate.sends;
  const [state, setState] = useState<State>('unknown');
  const recipients = ({ to_addresses: to }: EmailListing): string => {
    const named = to.slice(0, MAX_NAMED).map(({ address }) => address);
    return to.length > MAX_NAMED
      ? `${format.names(named)} +${format.count(to.length - MAX_NAMED)}`
      : format.names(named);
  };
  return (
    <>
      <div className="chips" role="group" aria-label={words.state}>
        {STATES.map((name) => (
          <button key={name} type="button" aria-pressed={name === state} onClick={() => setState(name)}>
            {words.states[name]}
          </button>
        ))}
      </div>
      <Paged
        name={['sends', state]}
        list={(options) => client.emails.list({ state, limit: PAGE }, options)}
        empty={{ icon: MailCheck, title: words.empty }}
      >
        {(items) => (
          <>
            {state === 'unknown' && <p className="operate-note">{words.unknownHint}</p>}
            <Table
              label={words.states[state]}
              items={items}
              idOf={({ id }) => id}
              columns={[
                {
                  title: words.subject,
                  isWide: true,
                  cell: ({ subject, thread_id: threadId, state_detail: detail }) => (
                    <>
                      <Link to="/t/$threadId" params={{ threadId }}>
                        {shown(subject) || words.noSubject}
                      </Link>
                      {detail !== null && <Detail detail={detail} />}
                    </>
                  ),
                },
                { title: words.to, cell: recipients },
                { title: words.date, cell: ({ date }) => format.full(date) },
              ]}
              actions={(email) => <SendActions email={email} />}
            />
          </>
        )}
      </Paged>
    </>
  );
}

/** In plain words; what was noted, in English, on demand. */
function Detail({ detail }: { readonly detail: string }) {
  const { operate, text } = useOperateWords();
  const { reasons, noted } = operate.sends;
  const reason = sendReasonOf(detail);
  return (
    <details className="operate-said">
      <summary>
        {Object.hasOwn(reasons, reason)
          ? reasons[reason as keyof typeof reasons]
          : text.thread.undeliveredReasons[reason as UndeliveredReason]}
      </summary>
      {noted} <span lang="en">{detail}</span>
    </details>
  );
}

function SendActions({ email: { id, state } }: { readonly email: EmailListing }) {
  const { operate } = useOperateWords();
  const words = operate.sends;
  const [mayOperate, maySend] = [useMay('operate'), useMay('send')];
  const resolve = useAct({
    view: 'sends',
    run: (outcome: 'sent' | 'failed') => client.emails.resolve(id, { outcome }),
  });
  const retry = useAct({ view: 'sends', run: () => client.emails.retry(id) });
  const cancel = useAct({ view: 'sends', run: () => client.emails.cancel(id) });
  return (
    <>
      {state === 'unknown' && mayOperate && (
        <>
          <Button look="outline" isPending={resolve.isPending} onPress={() => resolve.mutate('sent')}>
            {words.resolveSent}
          </Button>
          <Button look="outline" isPending={resolve.isPending} onPress={() => resolve.mutate('failed')}>
            {words.resolveFailed}
          </Button>
        </>
      )}
      {state === 'unknown' && maySend && (
        <Confirm
          label={words.retry}
          question={words.confirmRetry}
          onConfirm={() => retry.mutate(undefined)}
        />
      )}
      {(state === 'failed' || state === 'cancelled' || state === 'deferred') && maySend && (
        <Button look="outline" isPending={retry.isPending} onPress={() => retry.mutate(undefined)}>
          {state === 'deferred' ? words.retryNow : words.retry}
        </Button>
      )}
      {(state === 'queued' || state === 'deferred') && maySend && (
        <Button look="outline" isPending={cancel.isPending} onPress={() => cancel.mutate(undefined)}>
          {words.cancel}
        </Button>
      )}
    </>
  );
}
