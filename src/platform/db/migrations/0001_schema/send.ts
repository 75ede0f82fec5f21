/**
 * The send queue, the attempts of every email, the counters of the accounts' rate limits, and idempotency keys.
 *
 * A row of `send_queue` is free when it has no owner, claimed while it has an owner and a lease, and lost when it has an owner and no
 * lease: its owner fell silent, and only that owner's journal, or an operator, can settle what happened.
 *
 * `idempotency_keys` shows which request holds a key, and how its send ended; a key without an outcome is open. Its `email_id` names no row
 * of `emails`: the email is recorded after the key is claimed, or never.
 */
export const SEND = [
  `create table send_queue (
    email_id uuid primary key references emails on delete cascade,
    account_id account_id not null,
    -- Compared by bytes: the order of lanes means nothing, so it may as well be cheap and the same everywhere.
    lane text collate "C" not null check (length(lane) between 1 and 64),
    priority smallint not null check (priority between 0 and 2),
    due_at timestamptz not null,
    -- The moment that the caller named, until the first attempt has ended; null: it may go out at any time
    send_at timestamptz,
    -- When it was accepted, or was to go out: how long it takes is counted from here, whatever is tried again
    timed_from timestamptz not null default now(),
    give_up_at timestamptz not null,
    -- From the time that it may go out to that of giving up: a wrong clock sets the moments, never this
    give_up_after interval not null default interval '4 days' check (give_up_after > interval '0'),
    attempts int not null default 0 check (attempts >= 0),
    -- Of what is sent: another one with each change by a caller
    version int not null default 1 check (version > 0),
    owner uuid,
    -- Names the claim: whatever an owner does with it is tied to this, never to the email alone
    claim_id uuid,
    lease_until timestamptz,
    claimed_at timestamptz,
    -- Set right before the first byte: from then on only the outcome, or the owner who knows better, makes the row free
    begun_at timestamptz,
    check (owner is not null or lease_until is null),
    check ((owner is null) = (claimed_at is null)),
    check ((owner is null) = (claim_id is null)),
    check (owner is not null or begun_at is null)
    -- Room for what begins a hand-over and renews a lease: no index has its columns, so it stays in the page
  ) with (fillfactor = 60)`,
  // Finds out whether something is due, and of which priority
  `create index send_queue_due on send_queue (account_id, priority, due_at) where owner is null`,
  // The lanes of a priority one after the other, and the due sends of one lane
  `create index send_queue_lane on send_queue (account_id, priority, lane, due_at, email_id) where owner is null`,
  // Claimed sends, also to find leases that ran out: they are few, and an index of the leases would change with every renewal
  `create index send_queue_owner on send_queue (owner) where owner is not null`,

  `create table delivery_attempts (
    email_id uuid references emails on delete cascade,
    attempt int check (attempt > 0),
    started_at timestamptz not null,
    ended_at timestamptz,
    outcome text not null check (outcome in ('accepted', 'refused', 'unknown')),
    reply_code int check (reply_code between 200 and 599),
    reply_status text,
    reply_text text,
    detail text not null,
    primary key (email_id, attempt),
    check ((reply_code is null) = (reply_text is null))
  )`,

  `create table send_windows (
    account_id account_id,
    period text check (period in ('minute', 'day')),
    -- The messages of the period by the time of the last one of each entry; see core/delivery/rate-window.ts
    used_at timestamptz[] not null,
    used int[] not null,
    primary key (account_id, period),
    check (cardinality(used_at) = cardinality(used))
  )`,

  `create table idempotency_keys (
    -- Those of callers have no spaces and up to 256 characters; ours have spaces, and one of theirs behind some more.
    key text collate "C" primary key check (
      key ~ '^[ -~]+$' and length(key) <= case when key like '% %' then 300 else 256 end
    ),
    fingerprint bytea not null check (length(fingerprint) = 32),
    email_id uuid not null,
    instance_id uuid not null,
    -- The request is answered as soon as its email is queued.
    queued boolean not null,
    outcome jsonb check (jsonb_typeof(outcome) = 'object'),
    created_at timestamptz not null default now()
  )`,
  // For deleting expired keys
  `create index idempotency_keys_created_at on idempotency_keys (created_at)`,
  // The keys that an instance has to settle
  `create index idempotency_keys_open on idempotency_keys (instance_id) where outcome is null`,
];
