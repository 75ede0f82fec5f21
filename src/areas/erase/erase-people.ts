/** Accepts requests to erase a person, and carries them out one after the other. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseAddressList } from '../../core/address/address-list.ts';
import { sendsAs } from '../../core/accounts/sender-addresses.ts';
import { addrSpec } from '../../core/address/address.ts';
import { invalidRequest, naming, ServiceError } from '../../core/errors.ts';
import type { Account, IdSource, Logger } from '../../platform/base/basics.ts';
import {
  LeaseEnded,
  type ClaimedErasure,
  type Erased,
  type Erasure,
  type ErasureRequest,
  type ErasureStore,
} from './erasure-ports.ts';

/** Nearly all events are numbered within this time after they are written. */
const NUMBERED_WITHIN_MS = 100;

export interface PersonRequest {
  /** As a caller writes it. Exactly one of the two is given. */
  readonly address: string | null;
  readonly customerId: string | null;
  readonly requestedBy: string;
}

export interface ErasureRequestPorts {
  readonly erasures: Pick<ErasureStore, 'request' | 'read' | 'check'>;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly ids: IdSource;
  /** Starts it soon. */
  readonly wake: () => void;
}

export interface ErasureUseCases {
  /** Throws `invalid_request`, `invalid_address`, and `own_address` for an address of an account. */
  requestErasure(request: PersonRequest): Promise<Erasure>;
  /** The dry run of `requestErasure`: it throws the same errors, and erases nothing. */
  checkErasure(request: PersonRequest): Promise<Erased>;
  /** Throws `erasure_not_found`. */
  readErasure(id: string): Promise<Erasure>;
}

export function createErasures({ erasures, accounts, ids, wake }: ErasureRequestPorts): ErasureUseCases {
  function toRequest({ address, customerId, requestedBy }: PersonRequest): ErasureRequest {
    if ((address === null) === (customerId === null)) {
      throw invalidRequest('exactly_one_of', { field: 'address, customer_id' });
    }
    const key = address === null ? null : readKey(address);
    const ownAddresses = [...accounts.values()]
      .flatMap(({ from, addresses = [] }) => [from, ...addresses.map(({ address }) => address)])
      .map((address) => addrSpec(address).toLowerCase());
    if (key !== null && [...accounts.values()].some((account) => sendsAs(account, key)))
      throw new ServiceError('own_address');
    return { id: ids.uuid(), requestedBy, address: key, customerId, ownAddresses };
  }

  return {
    async requestErasure(person) {
      const request = toRequest(person);
      const erasure = await naming(request.id, erasures.request(request));
      wake();
      return erasure;
    },

    checkErasure: async (person) => erasures.check(toRequest(person)),

    async readErasure(id) {
      const erasure = await erasures.read(id);
      if (erasure === null) throw new ServiceError('erasure_not_found');
      return erasure;
    },
  };
}

/** Throws `invalid_address`, also for several addresses. */
function readKey(text: string): string {
  const [address, ...others] = parseAddressList(text, 'address');
  if (address === undefined || others.length > 0) {
    throw new ServiceError('invalid_address', { values: { field: 'address', value: text } });
  }
  return addrSpec(address).toLowerCase();
}

export interface CarryOutPorts {
  readonly erasures: ErasureStore;
  /** Throws while a file could not be deleted. */
  readonly deleteFiles: (signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

/** Carries out the requested erasures. A later call continues where this one ended, in this process or another. */
export async function carryOutErasures(ports: CarryOutPorts, signal: AbortSignal): Promise<void> {
  const owner = randomUUID();
  for (;;) {
    if (signal.aborted) return;
    const erasure = await ports.erasures.claim(owner);
    if (erasure === null) return;
    try {
      if (!(await carryOut(ports, erasure, signal))) {
        await ports.erasures.release(erasure);
        return;
      }
      ports.logger.info({ erasureId: erasure.id }, 'a person was erased');
    } catch (error) {
      if (!(error instanceof LeaseEnded)) throw error;
    }
  }
}

/** False: it has to continue later. */
async function carryOut(
  { erasures, deleteFiles }: CarryOutPorts,
  erasure: ClaimedErasure,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    if (signal.aborted) return false;
    const step = await erasures.eraseEmails(erasure);
    if (step === 'waits') return false;
    if (step === 'done') break;
  }
  await erasures.eraseRecords(erasure);
  await deleteFiles(signal);
  for (;;) {
    if (signal.aborted) return false;
    const step = await erasures.eraseEvents(erasure);
    if (step === 'done') break;
    if (step === 'waits') await wait(NUMBERED_WITHIN_MS);
  }
  await erasures.finish(erasure);
  return true;
}
