/** Decides what the page shows: the login form, the mail of the person who is logged in, or that the service does not answer. */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { SESSION_ENDED } from '../api/client.ts';
import { keys, sessionQuery } from '../api/queries.ts';
import { forgetPlaces } from './kept-places.ts';
import { logIn, takeToken, type LoginFailure, type Session } from '../api/session.ts';
import { accountOf } from '../features/write/device-copies.ts';
import { Login, type LoginReason } from '../features/login/login.tsx';
import { useWords } from '../i18n/index.tsx';
import { Failure } from '../ui/empty.tsx';
import { notify } from '../ui/toast.tsx';
import { useRecoveredTexts } from './recovered-texts.ts';
import { SessionContext } from './session.tsx';
import './session-gate.css';

interface SessionGateProps {
  readonly children: ReactNode;
}

export function SessionGate({ children }: SessionGateProps) {
  const { text } = useWords();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState<LoginReason>('none');
  const token = useToken(queryClient, setReason);
  const session = useQuery({ ...sessionQuery, enabled: token !== 'trying' });
  const last = useLastSession(session.data, queryClient.getQueryData(LOGGED_OUT) === true);
  useEffect(() => {
    const end = (): void => {
      if (queryClient.getQueryData(keys.session)) queryClient.setQueryData(keys.session, null);
    };
    addEventListener(SESSION_ENDED, end);
    return () => removeEventListener(SESSION_ENDED, end);
  }, [queryClient]);
  if (token === 'trying' || session.isPending) return <p className="hidden-text">{text.app.loading}</p>;
  if (session.isError)
    return (
      <Failure
        title={text.app.unreachable}
        hint={text.app.unreachableHint}
        onRetry={() => void session.refetch()}
      />
    );
  const isEnded = session.data === null && last !== null;
  const shown = session.data ?? last;
  const login = session.data === null && (
    <Login
      key={reason}
      reason={isEnded ? 'ended' : reason}
      onLogin={(next) => {
        // Nothing of what the page holds may be shown to another person, or stored in their name.
        if (last !== null && accountOf(next) !== accountOf(last)) {
          forgetPlaces();
          globalThis.location.reload();
        } else startSession(queryClient, next);
      }}
    />
  );
  if (shown === null) return login;
  // What is being written stays behind the login; another person gets none of it.
  return (
    <>
      <div
        key={accountOf(shown)}
        className="session"
        data-is-ended={isEnded ? '' : undefined}
        inert={isEnded}
      >
        <LoggedIn session={shown}>{children}</LoggedIn>
      </div>
      {isEnded && <div className="session-login">{login}</div>}
    </>
  );
}

/** The session that ended while the page was open; null after a person logged out. */
function useLastSession(session: Session | null | undefined, isAsked: boolean): Session | null {
  const [last, setLast] = useState<Session | null>(null);
  if (session && last !== session) setLast(session);
  if (session === null && isAsked && last !== null) setLast(null);
  return session === null && !isAsked ? last : null;
}

function LoggedIn({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  useRecoveredTexts(session);
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Marks that the person logged out: the next one sees nothing of them. */
const LOGGED_OUT = ['logged-out'];

/** Forgets the mail of another person's session. */
function startSession(queryClient: QueryClient, session: Session): void {
  const before = queryClient.getQueryData<Session | null>(keys.session);
  if (before && (before.name !== session.name || before.key_id !== session.key_id)) endSession(queryClient);
  queryClient.setQueryData(LOGGED_OUT, false);
  queryClient.setQueryData(keys.session, session);
  // What could not be loaded without a session.
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
}

/** Forgets the session and all mail that was read with it. */
export function endSession(queryClient: QueryClient): void {
  forgetPlaces();
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
  queryClient.setQueryData(LOGGED_OUT, true);
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
