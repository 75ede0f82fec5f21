/** The mail accounts: whether they work, how far behind their mailboxes are, and the actions on them. */
import type { Account } from 'email-worker-client';
import { lazy, Suspense, useState } from 'react';
import { useMay, useSession } from '../../app/session.tsx';
import { AtSign } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { AccountCard } from './accounts/account-card.tsx';
import { healthOf, type Health } from './accounts/health.ts';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';

/** An account that is being connected or repaired is watched more closely. */
const UNSETTLED_MS = 4000;
const SETTLED: ReadonlySet<Health> = new Set<Health>(['working', 'sendOnly', 'paused', 'removed']);
const isUnsettled = (account: Account): boolean => !SETTLED.has(healthOf(account));

/** Loaded apart: seldom used, and with all the words that explain a mail server. */
const ConnectMailbox = lazy(async () => ({
  default: (await import('./accounts/connect-mailbox.tsx')).ConnectMailbox,
}));

export function Accounts() {
  const { accounts: words } = useOperateWords().operate;
  const isAdmin = useMay('admin');
  // The service lets no key that is limited to accounts create others.
  const mayConnect = useSession().accounts === null && isAdmin;
  const [isConnecting, setConnecting] = useState(false);
  return (
    <>
      {mayConnect && (
        <div className="operate-bar">
          <Button look="primary" onPress={() => setConnecting(true)}>
            {words.connect}
          </Button>
        </div>
      )}
      {isConnecting && (
        <Suspense fallback={null}>
          <ConnectMailbox onClose={() => setConnecting(false)} />
        </Suspense>
      )}
      <Paged
        name={['accounts']}
        list={(options) => ({
          page: async () => ({ items: await client.accounts.list(options), nextCursor: null }),
        })}
        refreshMs={(accounts) => (accounts.some(isUnsettled) ? UNSETTLED_MS : null)}
        empty={{ icon: AtSign, title: words.empty, hint: mayConnect ? words.emptyHint : words.emptyAsk }}
      >
        {(accounts) => (
          <ul className="cards">
            {accounts.map((account) => (
              <AccountCard key={account.id} account={account} />
            ))}
          </ul>
        )}
      </Paged>
    </>
  );
}
