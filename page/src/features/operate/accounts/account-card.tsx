/** One account: how its mailboxes are, what to do about a failure, and what can be changed. */
import { lazy, Suspense, useState } from 'react';
import type { Account } from 'email-worker-client';
import { useMay } from '../../../app/session.tsx';
import { Button } from '../../../ui/button.tsx';
import { client } from '../../../api/client.ts';
import { useOperateWords } from '../operate-words.ts';
import { Status } from '../status.tsx';
import { useAct } from '../use-act.ts';
import { AccountActions, type DialogName } from './account-actions.tsx';
import { Consent } from './consent.tsx';
import {
  failureOf,
  healthOf,
  leftOutOf,
  mailboxesOf,
  mailboxFailureOf,
  repairsOf,
  type Health,
} from './health.ts';

/** Loaded when one is opened. */
const AccountDialogs = lazy(async () => ({
  default: (await import('./account-dialogs.tsx')).AccountDialogs,
}));

/** A mailbox with a smaller lag is as current as polling allows. */
const LAG_SHOWN_S = 120;

export function AccountCard({ account }: { readonly account: Account }) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const isAdmin = useMay('admin');
  /** With the account as it is then: an answer of a process that does not know its settings yet would close the form. */
  const [dialog, setDialog] = useState<{ readonly name: DialogName; readonly account: Account } | null>(null);
  const open = (name: DialogName): void => setDialog({ name, account });
  const { id, from_address: from } = account;
  const health = healthOf(account);
  const mailboxes = mailboxesOf(account);
  return (
    <li className="card">
      <div className="card-head">
        <h3 className="truncate">{from === null ? id : from.name || from.address}</h3>
        <Status tone={TONES[health]}>{words.health[health]}</Status>
      </div>
      <p className="card-sub">
        {from === null ? id : `${from.address} · ${id}`}
        {account.declared && ` · ${words.declared}`}
      </p>
      {health === 'failing' && <Alarm account={account} onPassword={() => open('logIn')} />}
      {health === 'paused' && account.paused_at !== null && (
        <p className="card-note">{words.pausedSince(format.full(account.paused_at))}</p>
      )}
      {account.warning !== null && !account.reconnect && <p className="card-warning">{account.warning}</p>}
      {health === 'noAccess' && <Consent id={id} mayAsk={isAdmin && !account.declared} />}
      {mailboxes.length > 0 && (
        <ul className="card-lines">
          {mailboxes.map((mailbox) => (
            <MailboxLine key={mailbox.path} mailbox={mailbox} isRead={account.has_mailbox} />
          ))}
        </ul>
      )}
      {mailboxes.length > 0 && <LeftOutLine account={account} onAsk={() => open('leftOut')} />}
      <AccountActions account={account} onOpen={open} />
      {dialog !== null && (
        <Suspense fallback={null}>
          <AccountDialogs account={dialog.account} dialog={dialog.name} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </li>
  );
}

const TONES: Readonly<Record<Health, 'good' | 'warn' | 'bad' | 'quiet'>> = {
  removed: 'quiet',
  paused: 'warn',
  noAccess: 'bad',
  unavailable: 'bad',
  failing: 'bad',
  sendOnly: 'quiet',
  waiting: 'warn',
  reading: 'warn',
  working: 'good',
};

/** What is wrong, and the buttons that help. */
function Alarm({ account, onPassword }: { readonly account: Account; readonly onPassword: () => void }) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const mayChange = useMay('admin');
  const mayRetry = useMay('operate');
  const retry = useAct({
    view: 'accounts',
    run: () => client.accounts.resync(account.id),
    say: () => words.retried,
  });
  const failure = failureOf(account);
  if (failure === null) return null;
  const repairs = repairsOf(account);
  return (
    <div className="card-alarm">
      <div role="alert">
        <p>{words.advice[failure.kind]}</p>
        <p className="card-said">{failure.reason}</p>
        {account.next_attempt_at !== null && <p>{words.nextTry(format.full(account.next_attempt_at))}</p>}
      </div>
      <div className="card-actions">
        {mayChange && repairs.includes('password') && (
          <Button look="primary" onPress={onPassword}>
            {failure.kind === 'credentials' ? words.newPassword : words.changeServers}
          </Button>
        )}
        {mayRetry && repairs.includes('retry') && (
          <Button look="outline" isPending={retry.isPending} onPress={() => retry.mutate(undefined)}>
            {words.retry}
          </Button>
        )}
      </div>
    </div>
  );
}

interface MailboxLineProps {
  readonly mailbox: Account['mailboxes'][number];
  /** False: it is paused, and no lag is meant. */
  readonly isRead: boolean;
}

function MailboxLine({ mailbox, isRead }: MailboxLineProps) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const { counts, lag_seconds: lag } = mailbox;
  const failure = mailboxFailureOf(mailbox);
  const isBehind = lag !== null && lag > LAG_SHOWN_S;
  return (
    <li>
      <span className="truncate">{mailbox.path}</span>
      <span className="card-figures">
        {words.messages(format.count(counts.recorded), format.count(counts.messages))}
        {counts.quarantined > 0 && ` · ${words.setAside(format.count(counts.quarantined))}`}
      </span>
      {isRead && (
        <span className={isBehind ? 'card-late' : 'card-figures'}>
          {lag === null ? words.firstReading : isBehind ? words.lag(format.duration(lag)) : words.current}
        </span>
      )}
      {failure !== null && <p className="card-said">{failure.reason}</p>}
    </li>
  );
}

/** What the rules left out, and where to ask for one email. */
function LeftOutLine({ account, onAsk }: { readonly account: Account; readonly onAsk: () => void }) {
  const { operate, format } = useOperateWords();
  const words = operate.accounts;
  const counts = leftOutOf(account);
  return (
    <div className="card-left-out">
      <p className="card-figures">
        {counts.length === 0
          ? words.nothingLeftOut
          : `${words.leftOut} ${counts
              .map(([reason, count]) => words.leftOutBy[reason](format.count(count)))
              .join(' · ')}`}
      </p>
      <Button onPress={onAsk}>{words.whyMissing}</Button>
    </div>
  );
}
