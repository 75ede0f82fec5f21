/** The copy of a text that the service does not have yet; see device-copies.ts. */
import type { DraftRequest } from 'email-worker-client';

export interface DeviceCopy {
  /** The account that wrote it: see `accountOf`. */
  readonly of: string;
  /** The draft as the service had it last; null: it has none. */
  readonly draft: { readonly id: string; readonly version: number } | null;
  /** Everything that was written, without files. */
  readonly request: Omit<DraftRequest, 'attachments'>;
}

export interface DeviceCopies {
  keep(key: string, copy: DeviceCopy): void;
  drop(key: string): void;
  /** The copies of an account that no open window is still writing. */
  left(of: string): Promise<readonly (readonly [key: string, copy: DeviceCopy])[]>;
  dropAll(of: string): void;
}
