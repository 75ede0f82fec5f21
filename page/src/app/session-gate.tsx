/** What the page is, by who is logged in: the form, the mail, or a word that the service does not answer. */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { keys, sessionQuery } from '../api/queries.ts';
import { logIn, takeToken, type Session } from '../api/session.ts';
import { Login, type LoginReason } from '../features/login/login.tsx';
import { useWords } from '../i18n/index.tsx';
import { Failure } from '../ui/empty.tsx';
import { SessionContext } from './session.tsx';

interface SessionGateProps {
  readonly children: ReactNode;
}

export function SessionGate({ children }: SessionGateProps) {
  const { text } = useWords();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState<LoginReason>('none');
  const token = useToken(queryClient, setReason);
  const session = useQuery({ ...sessionQuery, enabled: token !== 'trying' });
  if (token === 'trying' || session.isPending) return <p className="hidden-text">{text.app.loading}</p>;
  if (session.isError)
    return (
      <Failure
        title={text.app.unreachable}
        hint={text.app.unreachableHint}
        onRetry={() => void session.refetch()}
      />
    );
  if (session.data === null)
    return (
      <Login
        reason={queryClient.getQueryData(ENDED) === true ? 'ended' : reason}
        onLogin={(next) => startSession(queryClient, next)}
      />
    );
  return <SessionContext value={session.data}>{children}</SessionContext>;
}

/** Whether a session ended while the page was open. */
const ENDED = ['session-ended'];

function startSession(queryClient: QueryClient, session: Session): void {
  queryClient.setQueryData(ENDED, false);
  queryClient.setQueryData(keys.session, session);
}

/** Forgets the session and all mail that was read with it. */
export function endSession(queryClient: QueryClient, wasAsked: boolean): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
  queryClient.setQueryData(ENDED, !wasAsked);
  queryClient.setQueryData(keys.session, null);
}

/** React runs effects twice while it is developed, and a token works once. */
let pending: Promise<Session | string> | null = null;

function useToken(queryClient: QueryClient, onRefused: (reason: LoginReason) => void): 'none' | 'trying' {
  const [state, setState] = useState<'none' | 'trying'>(() => {
    const token = takeToken();
    if (token !== null) pending = logIn({ token });
    return pending === null ? 'none' : 'trying';
  });
  useEffect(() => {
    if (pending === null) return;
    void pending.then((outcome) => {
      pending = null;
      if (typeof outcome !== 'string') startSession(queryClient, outcome);
      else onRefused(outcome === 'refused' ? 'tokenRefused' : (outcome as LoginReason));
      setState('none');
    });
  }, [queryClient, onRefused]);
  return state;
}
