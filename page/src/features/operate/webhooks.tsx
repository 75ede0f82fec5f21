/** Webhooks: whether their endpoints accept events, and the results of the last deliveries. */
import { useState } from 'react';
import type { Webhook } from 'email-worker-client';
import { Webhook as WebhookIcon } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';
import { useAct } from './use-act.ts';

const PAGE = 20;

export function Webhooks() {
  const { webhooks: words } = useOperateWords().operate;
  return (
    <Paged
      name={['webhooks']}
      list={(options) => client.webhooks.list({ limit: PAGE }, options)}
      empty={{ icon: WebhookIcon, title: words.empty, hint: words.emptyHint }}
    >
      {(items) => (
        <ul className="cards">
          {items.map((webhook) => (
            <WebhookCard key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
    </Paged>
  );
}

function WebhookCard({ webhook }: { readonly webhook: Webhook }) {
  const { operate } = useOperateWords();
  const words = operate.webhooks;
  const [isOpen, setOpen] = useState(false);
  const { id, url, description, state, pause_reason: reason, pause_detail: detail, types } = webhook;
  const toggle = useAct({
    view: 'webhooks',
    run: () => (state === 'paused' ? client.webhooks.resume(id) : client.webhooks.pause(id)),
  });
  const test = useAct({
    view: 'webhooks',
    run: () => client.webhooks.test(id),
    say: ({ outcome }) => words.tested(words.outcomes[outcome]),
  });
  return (
    <li className="card">
      <div className="card-head">
        <h3 className="truncate">{description || url}</h3>
        {state === 'paused' ? (
          <Status tone="warn">{words.paused}</Status>
        ) : webhook.failing_since === null ? (
          <Status tone="good">{words.active}</Status>
        ) : (
          <Status tone="bad">{words.failing}</Status>
        )}
      </div>
      <p className="card-sub">
        {description === '' ? '' : `${url} · `}
        {words.events}: {types === null ? operate.all : types.join(', ')}
      </p>
      {reason !== null && (
        <p className="card-warning">
          {words.reasons[reason]} {detail}
        </p>
      )}
      <div className="card-actions">
        <Button look="outline" isPending={toggle.isPending} onPress={() => toggle.mutate(undefined)}>
          {state === 'paused' ? words.resume : words.pause}
        </Button>
        <Button look="outline" isPending={test.isPending} onPress={() => test.mutate(undefined)}>
          {words.test}
        </Button>
        <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          {words.deliveries}
        </Button>
      </div>
      {isOpen && <Deliveries webhookId={id} />}
    </li>
  );
}

function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { operate, format } = useOperateWords();
  const words = operate.webhooks;
  return (
    <Paged
      name={['webhooks', webhookId]}
      list={(options) => client.webhooks.deliveries(webhookId, { limit: PAGE }, options)}
      empty={{ icon: WebhookIcon, title: words.noDeliveries }}
    >
      {(items) => (
        <ul className="card-lines">
          {items.map((delivery) => (
            <li key={delivery.id}>
              <span className="truncate">{delivery.event_type}</span>
              <span className="card-figures">
                {format.full(delivery.started_at)} · {words.attempt(format.count(delivery.attempt))} ·{' '}
                {format.count(delivery.duration_ms)} ms
              </span>
              <span className={delivery.outcome === 'delivered' ? 'card-figures' : 'card-late'}>
                {delivery.status ?? words.outcomes[delivery.outcome]}
              </span>
              {delivery.error !== null && <p className="card-said">{delivery.error}</p>}
            </li>
          ))}
        </ul>
      )}
    </Paged>
  );
}
