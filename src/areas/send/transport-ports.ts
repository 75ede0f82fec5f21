/** The mail server operations that sending needs. */
import type { Content } from '../../platform/files/file-ports.ts';
import type { RecipientOutcome, Reply } from '../../core/delivery/states.ts';
import type { MessageId } from '../../core/message/message-id.ts';

/** SMTP only (RFC 5321 §2.3.1). Bcc recipients are here and nowhere else. Addresses are `local@domain`. */
export interface Envelope {
  /** null for the null sender `<>`. */
  readonly mailFrom: string | null;
  /** Without duplicates. */
  readonly rcptTo: readonly string[];
  /**
   * ENVID (RFC 3461 §4.4), which delivery reports return even when they do not contain the message, or its Message-ID was
   * replaced on the way: our Message-ID. Left out when a report is of no use.
   */
  readonly envelopeId?: string;
}

/**
 * The result of one hand-over.
 * - `accepted`: the server answered 2xx after the message, so at least one recipient is taken.
 * - `refused`: certainly not taken for any recipient; `temporary`: a later try may succeed.
 * - `unknown`: the connection broke after the end of DATA could have reached the server, which may have taken the message
 * or not.
 */
export type TransportResult = {
  /** One for each of `rcptTo`, same order. */
  readonly recipients: readonly RecipientOutcome[];
  /** The reply that decided; null when there was none. */
  readonly reply: Reply | null;
  /** English, for the record and for `details`; never contains a secret. */
  readonly detail: string;
  /** The Message-ID that the relay reports to have given the message instead of ours; null when it kept ours. */
  readonly relayMessageId: MessageId | null;
} & (
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly temporary: boolean }
  | { readonly kind: 'unknown' }
);

/** Hands messages to the next mail server. Never throws because of the server or the network. */
export interface Transport {
  /**
   * @param beforeFirstByte awaited when a connection is ready, right before anything of the message goes out. When it
   * throws, nothing was handed over, and `send` throws the same error.
   */
  send(envelope: Envelope, raw: Content, beforeFirstByte?: () => Promise<void>): Promise<TransportResult>;
  /** Connects and authenticates without sending; throws when that fails. */
  verify(): Promise<void>;
  /** Waits for the sends under way, then closes idle connections. */
  close(): Promise<void>;
}
