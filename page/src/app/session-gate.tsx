/** Decides what the page shows: the login form, the mail of the person who is logged in, or that the service does not answer. */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { keys, sessionQuery } from '../api/queries.ts';
import { logIn, takeToken, type LoginFailure, type Session } from '../api/session.ts';
import { Login, type LoginReason } from '../features/login/login.tsx';
import { useWords } from '../i18n/index.tsx';
import { Failure } from '../ui/empty.tsx';
import { notify } from '../ui/toast.tsx';
import { useRecoveredTexts } from './recovered-texts.ts';
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
        key={reason}
        reason={queryClient.getQueryData(ENDED) === true ? 'ended' : reason}
        onLogin={(next) => startSession(queryClient, next)}
      />
    );
  return <LoggedIn session={session.data}>{children}</LoggedIn>;
}

function LoggedIn({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  useRecoveredTexts(session);
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Marks that a session ended while the page was open. */
const ENDED = ['session-ended'];

/** Forgets the mail of another person's session. */
function startSession(queryClient: QueryClient, session: Session): void {
  const before = queryClient.getQueryData<Session | null>(keys.session);
  if (before && (before.name !== session.name || before.key_id !== session.key_id))
    endSession(queryClient, true);
  queryClient.setQueryData(ENDED, false);
  queryClient.setQueryData(keys.session, session);
}

/** Forgets the session and all mail that was read with it. */
export function endSession(queryClient: QueryClient, wasAsked: boolean): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
  queryClient.setQueryData(ENDED, !wasAsked);
  queryClient.setQueryData(keys.session, null);
}

/** React runs effects twice during development, and a token works once. */
let pending: Promise<Session | LoginFailure> | null = null;

function useToken(queryClient: QueryClient, onRefused: (reason: LoginReason) => void): 'none' | 'trying' {
  const [state, setState] = useState<'none' | 'trying'>(() => {
    const token = takeToken();
    if (token !== null) pending = logIn({ token });
    return pending === null ? 'none' : 'trying';
  });
  const { text } = useWords();
  useEffect(() => {
    const finish = (outcome: Session | LoginFailure): void => {
      const reason = outcome === 'refused' ? 'tokenRefused' : outcome;
      if (typeof reason !== 'string') startSession(queryClient, reason);
      // The present session continues.
      else if (queryClient.getQueryData(keys.session)) notify(text.login[reason]);
      else {
        queryClient.setQueryData(ENDED, false);
        onRefused(reason);
      }
      setState('none');
    };
    void pending?.then((outcome) => {
      pending = null;
      finish(outcome);
    });
    // Opening such a link where the page is already open reloads nothing.
    const takeAnother = (): void => {
      const token = takeToken();
      if (token === null) return;
      onRefused('none');
      void logIn({ token }).then(finish);
    };
    addEventListener('hashchange', takeAnother);
    return () => removeEventListener('hashchange', takeAnother);
  }, [queryClient, onRefused, text]);
  return state;
}
