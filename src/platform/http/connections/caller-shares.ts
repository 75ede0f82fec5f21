/**
 * Bounds what one caller asks for: how often, and how much at the same time. Each key has a share of its own, the secrets together have
 * another one, and the sessions of a key have one beside that of the key, so that a program does not stop the page. The shares are those of
 * this process: with several, a caller has one in each.
 *
 * A request counts as under way until its answer begins. What takes long after that, or waits for something to happen, has bounds of its own
 * (see RequestSlots), and never keeps its caller from asking for something else.
 *
 * The header fields follow draft-ietf-httpapi-ratelimit-headers-11.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShownKey } from '../../access/key-ring.ts';
import { RequestRate } from '../../../core/edge/request-rate.ts';
import { ServiceError } from '../../../core/errors.ts';

export interface CallerLimits {
  /** Requests of a key within a minute, unless the key has a limit of its own. */
  readonly ratePerMinute: number;
  /** Requests of a key that are under way at the same time. */
  readonly atOnce: number;
}

/** How much more the holder of a secret may do: it runs the service. Even its programs leave some room to others. */
const SECRET_RATE_FACTOR = 100;
const SECRET_AT_ONCE_FACTOR = 8;
/** When a caller with too much under way may ask again, in seconds: most requests take less. */
const RETRY_AT_ONCE_SECONDS = 1;

interface Share {
  readonly rate: RequestRate;
  readonly atOnce: number;
  readonly policy: string;
  underWay: number;
}

/** Names what has a share: a key, its sessions, or the secrets together (`''`). */
export const shareHolderOf = ({ caller: { author }, session }: ShownKey): string =>
  `${session === undefined ? '' : 'session '}${author.kind === 'key' ? author.id : ''}`;

/** Of each request that counts: gives its place back. */
const places = new WeakMap<IncomingMessage, () => void>();

/** The request no longer counts as under way. Does nothing when it did not count, or when it is called again. */
export const leavePlace = ({ raw }: FastifyRequest): void => places.get(raw)?.();

export class CallerShares {
  readonly #limits: CallerLimits;
  readonly #now: () => number;
  /** By holder; as many as there are keys at most, twice. */
  readonly #shares = new Map<string, Share>();

  /** @param now in milliseconds, by a clock that never goes back */
  constructor(limits: CallerLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Counts a request of a known caller, and describes its share in header fields. Returns the error when it asks for too much. */
  take(request: FastifyRequest, reply: FastifyReply, shown: ShownKey): ServiceError | undefined {
    const now = this.#now();
    const share = this.#shareOf(shown);
    const isFull = share.underWay >= share.atOnce;
    const waitMs = isFull ? null : share.rate.take(now);
    const isTaken = !isFull && waitMs === null;
    if (isTaken) holdPlace(request, reply, share);
    reply.header('ratelimit-policy', share.policy);
    reply.header('ratelimit', stateOf(share, now));
    if (isTaken) return undefined;
    const retryAfterSeconds = waitMs === null ? RETRY_AT_ONCE_SECONDS : Math.max(1, Math.ceil(waitMs / 1000));
    return new ServiceError('rate_limited', { retryAfterSeconds });
  }

  /** Counts what a known caller asks for at another door. Returns the seconds until it may ask again when it asks for too much, else null. */
  count(shown: ShownKey): number | null {
    const waitMs = this.#shareOf(shown).rate.take(this.#now());
    return waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000));
  }

  #shareOf(shown: ShownKey): Share {
    const { author, rateLimit = null } = shown.caller;
    const isKey = author.kind === 'key';
    const holder = shareHolderOf(shown);
    const { ratePerMinute, atOnce } = this.#limits;
    const perMinute = isKey ? (rateLimit ?? ratePerMinute) : ratePerMinute * SECRET_RATE_FACTOR;
    const known = this.#shares.get(holder);
    if (known?.rate.perMinute === perMinute) return known;
    const most = isKey ? atOnce : atOnce * SECRET_AT_ONCE_FACTOR;
    const share: Share = {
      rate: new RequestRate(perMinute),
      atOnce: most,
      policy: `"rate";q=${perMinute};w=60, "at-once";q=${most};qu="concurrent-requests"`,
      // A changed limit begins anew; requests under way give their places back to the share that they took them from.
      underWay: 0,
    };
    this.#shares.set(holder, share);
    return share;
  }
}

function holdPlace(request: FastifyRequest, reply: FastifyReply, share: Share): void {
  share.underWay += 1;
  const leave = () => {
    if (places.delete(request.raw)) share.underWay -= 1;
  };
  places.set(request.raw, leave);
  reply.raw.once('close', leave);
}

const stateOf = ({ rate, atOnce, underWay }: Share, now: number): string =>
  `"rate";r=${rate.left(now)};t=${rate.secondsUntilFull(now)}, "at-once";r=${atOnce - underWay}`;
