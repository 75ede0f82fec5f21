/** The first step of a read on a streaming replica; see db/replica-reads.ts. */
export const REPLICAS = [
  // Waits until this server has replayed everything up to `primary_position`. The next statement in the same message takes its snapshot
  // later, unless the isolation is another one. The error codes are ours: EW001, too far behind; EW002, no replica.
  `create function await_replay(primary_position pg_lsn, patience_ms int) returns void language plpgsql as $$
  declare
    deadline timestamptz := clock_timestamp() + patience_ms * interval '1 millisecond';
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'snapshots of this server are older than their statements' using errcode = 'EW002';
    end if;
    loop
      if not pg_is_in_recovery() then
        raise exception 'the server is no replica' using errcode = 'EW002';
      end if;
      exit when pg_last_wal_replay_lsn() >= primary_position;
      if clock_timestamp() >= deadline then
        raise exception 'the replica is too far behind' using errcode = 'EW001';
      end if;
      perform pg_sleep(0.0005);
    end loop;
  end $$`,
];
