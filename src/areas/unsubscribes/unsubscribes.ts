/**
 * Lists that a recipient can leave (RFC 2369, RFC 8058). A list has a name and belongs to an account; it needs no set-up,
 * because only addresses that left it are stored. Other mail to these addresses continues.
 */
import { parseAddressList } from '../../core/address/address-list.ts';
import { addrSpec, type Address } from '../../core/address/address.ts';
import { deliveryAddressKey } from '../../core/delivery/delivery-report.ts';
import { ServiceError } from '../../core/errors.ts';
import { isListName } from '../../core/unsubscribe/list-name.ts';
import { formatUnsubscribeMailto } from '../../core/unsubscribe/mailto.ts';
import { openToken, sealToken, TOKEN_KEY_BYTES, TOKEN_NONCE_BYTES } from '../../core/unsubscribe/token.ts';
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import { createCursorForm, readPage, type PageRequest } from '../../platform/base/paging.ts';
import type { Unsubscribe, UnsubscribeStore } from './unsubscribe-store.ts';
import type { UnsubscribeUseCases } from './use-cases.ts';

/** An email of a list, before it is composed. */
export interface ListEmail {
  readonly accountId: string;
  /** The address of the account; null when no mail to it arrives here. */
  readonly address: Address | null;
  readonly emailId: string;
  readonly list: string;
  /** To, cc and bcc. */
  readonly recipients: readonly Address[];
}

export interface UnsubscribeLinks {
  readonly url: string;
  /** null: none. */
  readonly mailto: string | null;
}

export type Unsubscribes = Unsubscribing['unsubscribes'];

export interface Unsubscribing {
  readonly useCases: UnsubscribeUseCases;
  readonly unsubscribes: {
    /** The newest first. @param request `address`: as a caller writes it. Throws `invalid_address`, `invalid_cursor`. */
    list(
      request: PageRequest &
        AccountFilter & { readonly list: string | null; readonly address: string | null },
    ): Promise<{ readonly unsubscribes: readonly Unsubscribe[]; readonly nextCursor: string | null }>;
    /** The address gets mail of the list again. Throws `unsubscribe_not_found`. @param within only of these accounts; null: of all */
    remove(id: string, within: readonly string[] | null): Promise<Unsubscribe>;
  };
  /**
   * The links that unsubscribe the only recipient: with one request, and by mail if mail arrives here. Throws
   * `unsubscribe_unavailable` without PUBLIC_URL, `invalid_list`, `one_recipient_expected`, `recipient_unsubscribed`,
   * `database_unavailable`.
   */
  linksOf(email: ListEmail): Promise<UnsubscribeLinks>;
}

export interface UnsubscribingPorts {
  readonly store: UnsubscribeStore;
  readonly ids: IdSource;
  /** The URL at which recipients reach the service, without a slash at the end; null: they can't. */
  readonly publicUrl: string | null;
}

export function createUnsubscribing({ store, ids, publicUrl }: UnsubscribingPorts): Unsubscribing {
  let key: Buffer | null = null;
  // Never changes, so it is read once.
  const tokenKey = async () => (key ??= await store.tokenKey(ids.randomBytes(TOKEN_KEY_BYTES)));

  return {
    async linksOf({ accountId, address: ownAddress, emailId, list, recipients }) {
      if (publicUrl === null) throw new ServiceError('unsubscribe_unavailable');
      if (!isListName(list)) throw new ServiceError('invalid_list');
      const [recipient, ...others] = recipients;
      if (recipient === undefined || others.length > 0) throw new ServiceError('one_recipient_expected');
      const address = deliveryAddressKey(addrSpec(recipient));
      if (await store.isUnsubscribed(accountId, list, address)) {
        throw new ServiceError('recipient_unsubscribed', { values: { value: address, list } });
      }
      const nonce = ids.randomBytes(TOKEN_NONCE_BYTES);
      const token = sealToken(await tokenKey(), nonce, { accountId, list, address, emailId });
      return {
        url: `${publicUrl}/unsubscribe/${token}`,
        mailto: ownAddress === null ? null : formatUnsubscribeMailto(ownAddress, token),
      };
    },

    useCases: {
      readUnsubscribeToken: async (token) => openToken(await tokenKey(), token),

      async unsubscribe(token) {
        const subscription = openToken(await tokenKey(), token);
        if (subscription !== null) await store.add({ id: ids.uuid(), ...subscription });
        return subscription;
      },
    },

    unsubscribes: {
      async list({ list, address, ...request }) {
        const { items, nextCursor } = await readPage(
          ID_CURSOR,
          request,
          (beforeId, limit) =>
            store.list({
              accountIds: accountIdsOf(request),
              list,
              address: address === null ? null : readKey(address),
              beforeId,
              limit,
            }),
          ({ id }) => id,
        );
        return { unsubscribes: items, nextCursor };
      },

      async remove(id, within) {
        const removed = await store.remove(id, within);
        if (removed === null) throw new ServiceError('unsubscribe_not_found');
        return removed;
      },
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

const ID_CURSOR = createCursorForm<string>(
  (id) => `u${id}`,
  (text) => /^u([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text)?.[1] ?? null,
);
