/** Counters for the metrics, updated while the service works. Nothing here throws. */

/** The result of a hand-over to a mail server: `put_off` is tried again, `unknown` never automatically. */
export type SendOutcome = 'accepted' | 'put_off' | 'rejected' | 'unknown';

/** The result of a request for a remote image; `busy` is refused, since too many wait. */
export type ImageOutcome = 'cached' | 'fetched' | 'failed' | 'busy';

export interface Meter {
  /** @param accountId of a configured account */
  noteSend(accountId: string, outcome: SendOutcome, durationMs: number): void;
  noteWebhook(isDelivered: boolean, durationMs: number): void;
  noteImage(outcome: ImageOutcome): void;
}

/** For a service without metrics. */
export const NO_METER: Meter = {
  noteSend: () => undefined,
  noteWebhook: () => undefined,
  noteImage: () => undefined,
};
