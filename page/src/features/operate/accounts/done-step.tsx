/** The last step: the account as it begins to be read. */
import { useEffect, useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Consent } from './consent.tsx';
import { useAccountWords } from './account-words.ts';
import { failureOf, healthOf, mailboxesOf } from './health.ts';
import type { Connected } from './use-connect.ts';

/** Reading begins within some seconds. */
const REFRESH_MS = 2000;

export function DoneStep({
  connected,
  onClose,
}: {
  readonly connected: Connected;
  readonly onClose: () => void;
}) {
  const { accounts, operate, format } = useAccountWords();
  const words = accounts.done;
  const { id } = connected.account;
  const { data: account } = useQuery({
    queryKey: ['operate', 'accounts', 'connected', id],
    queryFn: ({ signal }) => client.accounts.get(id, { signal }),
    initialData: connected.account,
    refetchInterval: REFRESH_MS,
  });
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const health = healthOf(account);
  const failure = failureOf(account);
  const address = account.from_address?.address ?? id;
  const state =
    health === 'sendOnly' ||
    health === 'reading' ||
    health === 'working' ||
    health === 'noAccess' ||
    health === 'failing'
      ? words[health]
      : words.waiting;
  return (
    <div className="step-form">
      <h3 ref={title} className="step-title" tabIndex={-1}>
        {words.titles[health === 'noAccess' ? 'noAccess' : health === 'failing' ? 'failing' : 'good'](
          address,
        )}
      </h3>
      <p className="step-status" role="status">
        {state}
      </p>
      {health === 'noAccess' && (
        <div>
          <Consent id={id} made={connected.consentUrl} mayAsk />
        </div>
      )}
      {health === 'failing' && failure !== null && (
        <div className="card-alarm">
          <p>{operate.accounts.advice[failure.kind]}</p>
          <p className="card-said">{failure.reason}</p>
        </div>
      )}
      {account.mailboxes.length > 0 && (
        <ul className="card-lines">
          {mailboxesOf(account).map(({ path, counts }) => (
            <li key={path}>
              <span className="truncate">{path}</span>
              <span className="card-figures">
                {operate.accounts.messages(format.count(counts.recorded), format.count(counts.messages))}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div className="step-actions">
        <span className="step-space" />
        <Button look="primary" onPress={onClose}>
          {words.close}
        </Button>
      </div>
    </div>
  );
}
