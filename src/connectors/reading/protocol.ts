/** The messages between the service and its reading processes, over Node's channel for child processes. */
import type { ReadingKind } from '../../platform/reading/reading-ports.ts';

/** Questions are answered one after the other, in the order they were asked. */
export interface Question {
  readonly id: number;
  readonly kind: ReadingKind;
  /** Depends on `kind`; see Readings. */
  readonly asked: unknown;
}

export type Answer =
  /** Sent once, first. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly value: unknown }
  /** The reading threw; `detail` is the error with its stack. */
  | { readonly kind: 'threw'; readonly id: number; readonly detail: string };
