/** The mail accounts: whether they work, how far behind their mailboxes are, and the actions on them. */
import { useState } from 'react';
import type { Account } from 'email-worker-client';
import { useMay } from '../../app/session.tsx';
import { AtSign } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-text.ts';
import { notify } from '../../ui/toast.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';
import { useAct } from './use-act.ts';

/** A mailbox with a smaller lag is as current as polling allows. */
const LAG_SHOWN_S = 120;

export function Accounts() {
  const { accounts: words } = useOperateWords().operate;
  return (
    <Paged
      name={['accounts']}
      list={(options) => ({
        page: async () => ({ items: await client.accounts.list(options), nextCursor: null }),
      })}
      empty={{ icon: AtSign, title: words.empty, hint: words.emptyHint }}
    >
      {(accounts) => (
        <ul className="cards">
          {accounts.map((account) => (
            <AccountCard key={account.id} account={account} />
          ))}
        </ul>
      )}
    </Paged>
  );
}

function AccountCard({ account }: { readonly account: Account }) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const { id, from_address: from, last_error: failure, mailboxes } = account;
  return (
    <li className="card">
      <div className="card-head">
        <h3 className="truncate">{from === null ? id : from.name || from.address}</h3>
        <AccountStatus account={account} />
      </div>
      <p className="card-sub">{from === null ? id : `${from.address} · ${id}`}</p>
      {failure !== null && (
        <div className="card-alarm" role="alert">
          <p>{words.advice[failure.kind]}</p>
          <p className="card-said">{failure.reason}</p>
          {account.next_attempt_at !== null && <p>{words.nextTry(format.full(account.next_attempt_at))}</p>}
        </div>
      )}
      {account.warning !== null && !account.reconnect && <p className="card-warning">{account.warning}</p>}
      {account.reconnect && <Consent id={id} />}
      {mailboxes.length > 0 && (
        <ul className="card-lines">
          {mailboxes
            .filter(({ left_at: left }) => left === null)
            .map((mailbox) => (
              <MailboxLine key={mailbox.path} mailbox={mailbox} />
            ))}
        </ul>
      )}
    </li>
  );
}

function AccountStatus({ account }: { readonly account: Account }) {
  const { accounts: words } = useOperateWords().operate;
  if (account.reconnect) return <Status tone="bad">{words.noAccess}</Status>;
  if (account.last_error !== null) return <Status tone="bad">{words.failing}</Status>;
  if (!account.has_mailbox) return <Status tone="quiet">{words.sendOnly}</Status>;
  if (account.last_attempt_at === null) return <Status tone="warn">{words.waiting}</Status>;
  return <Status tone="good">{words.healthy}</Status>;
}

/** The link goes to the owner of the mailbox, who may be another person than the operator. */
function Consent({ id }: { readonly id: string }) {
  const { operate } = useOperateWords();
  const words = operate.accounts;
  const mayAsk = useMay('admin');
  const [link, setLink] = useState<string | null>(null);
  const ask = useAct({
    view: 'accounts',
    run: () => client.accounts.requestConsent(id),
    say: ({ url }) => {
      setLink(url);
      return null;
    },
  });
  const copy = async (text: string): Promise<void> => {
    notify((await copyText(text)) ? words.copied : operate.notCopied);
  };
  return (
    <>
      <p className="card-warning">
        {words.consentNeeded}
        {link !== null && ` ${words.consentHint}`}
      </p>
      {mayAsk && (
        <div className="card-actions">
          {link !== null && (
            <>
              <a className="button button-primary" href={link} target="_blank" rel="noopener noreferrer">
                {words.openConsent}
              </a>
              <Button look="outline" onPress={() => void copy(link)}>
                {words.copyLink}
              </Button>
            </>
          )}
          <Button
            look={link === null ? 'outline' : 'plain'}
            isPending={ask.isPending}
            onPress={() => ask.mutate(undefined)}
          >
            {link === null ? words.askConsent : words.newLink}
          </Button>
        </div>
      )}
    </>
  );
}

function MailboxLine({ mailbox }: { readonly mailbox: Account['mailboxes'][number] }) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const { counts, lag_seconds: lag, last_error: failure } = mailbox;
  const isBehind = lag !== null && lag > LAG_SHOWN_S;
  return (
    <li>
      <span className="truncate">{mailbox.path}</span>
      <span className="card-figures">
        {words.messages(format.count(counts.recorded), format.count(counts.messages))}
        {counts.quarantined > 0 && ` · ${words.setAside(format.count(counts.quarantined))}`}
      </span>
      <span className={isBehind ? 'card-late' : 'card-figures'}>
        {isBehind ? words.lag(format.duration(lag)) : words.current}
      </span>
      {failure !== null && <p className="card-said">{failure.reason}</p>}
    </li>
  );
}
