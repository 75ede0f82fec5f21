/**
 * The addresses that nothing is sent to. The database has the true list; every process has a copy in memory, so that a
 * send to other addresses needs no query. While sends come, they have the copy refreshed every half second with the
 * changes since the last time; the first send after a rest waits a moment for that. So every process refuses a suppressed
 * address within a second, and an idle one asks nothing. A hit in the copy is confirmed by the database, so a lifted
 * address is free at once. While the database is unavailable, the last state of the copy decides.
 *
 * Until the copy is complete for the first time, the database is asked about every recipient, and nothing is sent without
 * its answer. So a million addresses do not delay the start of the service.
 */
import { parseAddressList } from '../../core/address/address-list.ts';
import { addrSpec, type Address } from '../../core/address/address.ts';
import { AddressSet } from '../../core/delivery/address-set.ts';
import { deliveryAddressKey } from '../../core/delivery/delivery-report.ts';
import {
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../../core/delivery/suppression.ts';
import { erasedAddress, isErasedAddress } from '../../core/erase/erased-address.ts';
import type { DigestKey } from '../../core/erase/keyed-digest.ts';
import { SUPPRESSION_TEXTS } from '../../core/error-words.ts';
import { ServiceError } from '../../core/errors.ts';
import { createFreshCopy } from './fresh-copy.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import { createCursorForm, readPage, type PageRequest } from '../../platform/base/paging.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { Timers } from '../../platform/base/timers.ts';
import type { ListedSuppression, SuppressionChange, SuppressionStore } from './suppression-store.ts';
import type { SecurityLog } from '../../platform/base/security-log.ts';
import { isStorable } from '../../core/storable-text.ts';

/** Changes read by one statement; requests wait while they are entered, some ten milliseconds. */
const REFRESH_BATCH = 5000;

export interface SuppressionList {
  /**
   * Throws `recipient_suppressed` when one of them is on the list. The database is asked only when one seems to be, or
   * while the copy is not complete; only then can `database_unavailable` be thrown.
   */
  refuseSuppressed(recipients: readonly Address[]): Promise<void> | null;
  /**
   * Brings the copy up to date: addresses suppressed before the call are refused afterwards. During the first reading
   * that holds at once, because the database decides. Throws `database_unavailable`.
   */
  refresh(): Promise<void>;
}

export interface SuppressionListPorts {
  readonly store: Pick<SuppressionStore, 'findSuppressed' | 'changesAfter' | 'readDigestKey'>;
  /** 32 unguessable bits. */
  readonly seed: number;
  readonly logger: Logger;
  readonly security: SecurityLog;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

type Held = Pick<Suppression, 'address' | 'reason' | 'since'>;

export function createSuppressionList(ports: SuppressionListPorts): SuppressionList {
  const { store, seed, logger, timers } = ports;
  const copy = new AddressSet(seed);
  let version = 0;
  /** null while no erased address is on the list. */
  let key: DigestKey | null = null;
  let isComplete = false;
  /** A caller reported a change during the first reading, which may have passed that entry already. */
  let wasAsked = false;
  const fresh = createFreshCopy(
    readChanges,
    createFailureLog(logger, 'the suppression list can not be refreshed; the copy stays in use as it is'),
    timers,
  );

  function heldIn(recipients: readonly Address[]): readonly Held[] {
    const held: Held[] = [];
    if (copy.size === 0) return held;
    for (const recipient of recipients) {
      const address = deliveryAddressKey(addrSpec(recipient));
      const entry = copy.get(address) ?? (key === null ? null : copy.get(erasedAddress(key, address)));
      const reason = SUPPRESSION_REASONS[entry?.tag ?? -1];
      if (entry === null || reason === undefined) continue;
      held.push({ address, reason, since: new Date(entry.seconds * 1000) });
    }
    return held;
  }

  async function refuseIfTrue(held: readonly Held[]): Promise<void> {
    let suppressed: readonly Held[];
    try {
      suppressed = await store.findSuppressed(held.map(({ address }) => address));
    } catch (err) {
      if (!(err instanceof ServiceError) || err.code !== 'database_unavailable') throw err;
      logger.warn({ err }, 'a suppressed recipient could not be looked up; the copy of the list decides');
      suppressed = held;
    }
    const [first] = suppressed;
    if (first !== undefined) throw refusal(first);
  }

  /** Does not use the copy, which may lack the entry that matters. */
  async function refuseByDatabase(recipients: readonly Address[]): Promise<void> {
    const addresses = recipients.map((recipient) => deliveryAddressKey(addrSpec(recipient)));
    const [first] = await store.findSuppressed(addresses);
    if (first !== undefined) throw refusal(first);
  }

  async function readChanges(): Promise<void> {
    do {
      wasAsked = false;
      await readNewer();
    } while (wasAsked);
    isComplete = true;
  }

  function refuseHeld(recipients: readonly Address[]): Promise<void> | null {
    const held = heldIn(recipients);
    return held.length === 0 ? null : refuseIfTrue(held);
  }

  async function readNewer(): Promise<void> {
    for (;;) {
      const changes = await store.changesAfter(version, REFRESH_BATCH);
      if (key === null && changes.some(({ address }) => isErasedAddress(address))) {
        key = await store.readDigestKey();
      }
      for (const change of changes) {
        if (isComplete) tell(change);
        if (change.active) {
          copy.set(change.address, {
            tag: SUPPRESSION_REASONS.indexOf(change.reason),
            seconds: Math.max(0, Math.floor(change.since.getTime() / 1000)),
          });
        } else {
          copy.delete(change.address);
        }
        version = change.version;
      }
      if (changes.length < REFRESH_BATCH) return;
    }
  }

  /**
   * Reports every change, whatever the cause, and whichever process made it; entries that exist at the start are no
   * change.
   */
  function tell({ address, active, reason, since }: SuppressionChange): void {
    const before = SUPPRESSION_REASONS[copy.get(address)?.tag ?? -1] ?? null;
    ports.security.note('suppression.changed', { address, before, after: active ? reason : null, since });
  }

  return {
    refuseSuppressed(recipients) {
      if (!isComplete) return refuseByDatabase(recipients);
      const freshened = fresh.freshen();
      return freshened === null
        ? refuseHeld(recipients)
        : freshened.then(async () => {
            await refuseHeld(recipients);
          });
    },

    async refresh() {
      if (!isComplete && fresh.isReading) {
        wasAsked = true;
        return;
      }
      // A caller that calls during a round may have changed an entry after the round read it.
      if (fresh.isReading) await fresh.read().catch(() => undefined);
      await fresh.read();
    },
  };
}

function refusal({ address, reason, since }: Held): ServiceError {
  return new ServiceError('recipient_suppressed', {
    values: { value: address, detail: SUPPRESSION_TEXTS[reason], since: since.toISOString() },
  });
}

export interface SuppressionsRequest extends PageRequest {
  /** As a caller writes it. */
  readonly address: string | null;
  readonly reason: SuppressionReason | null;
}

export type Suppressions = ReturnType<typeof createSuppressionOperations>;

/** The operators' acts on the list. Addresses are as a caller writes them. */
export function createSuppressionOperations(
  store: SuppressionStore,
  { refresh }: Pick<SuppressionList, 'refresh'>,
) {
  return {
    /** Throws `invalid_address`, `invalid_cursor`. */
    async list({ address, reason, ...request }: SuppressionsRequest) {
      const key = address === null ? null : readKey(address);
      const { items, nextCursor } = await readPage(
        VERSION_CURSOR,
        request,
        (before, limit) => store.listSuppressions({ address: key, reason, limit, before }),
        ({ version }) => version,
      );
      return { suppressions: items, nextCursor };
    },

    /** Throws `invalid_address`, `suppression_not_found`. */
    async read(address: string): Promise<ListedSuppression> {
      const [found] = await store.findSuppressed([readKey(address)]);
      if (found === undefined) throw new ServiceError('suppression_not_found');
      return found;
    },

    /** Throws `invalid_address`, `invalid_text`, `suppression_changed`. @param version null: any, or none */
    async suppress(
      caller: Caller,
      address: string,
      version: number | null,
      note: string | null,
    ): Promise<ListedSuppression> {
      if (note !== null && !isStorable(note)) {
        throw new ServiceError('invalid_text', { values: { field: 'note' } });
      }
      const suppression = await store.suppress(readKey(address), note, version, keyIdOf(caller));
      await refresh();
      return suppression;
    },

    /** Throws `invalid_address`, `suppression_not_found`, `suppression_changed`. @param version null: any */
    async lift(caller: Caller, address: string, version: number | null) {
      const key = readKey(address);
      const lifted = await store.lift(key, version, keyIdOf(caller));
      if (lifted === null) throw new ServiceError('suppression_not_found');
      await refresh();
      return { address: key, ...lifted };
    },
  };
}

/** Throws `invalid_address`, also for several addresses. */
function readKey(text: string): string {
  const [address, ...others] = parseAddressList(text, 'address');
  if (address === undefined || others.length > 0) {
    throw new ServiceError('invalid_address', { values: { field: 'address', value: text } });
  }
  return deliveryAddressKey(addrSpec(address));
}

/** The version of the last entry of a page. */
const VERSION_CURSOR = createCursorForm<number>(
  (version) => `v${version}`,
  (text) => {
    const found = /^v(\d{1,15})$/.exec(text)?.[1];
    return found === undefined ? null : Number(found);
  },
);
