/** An email of a thread that is newer than the one that its writer named as the newest; see `if_newest`. */
export interface NewEmail {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: { readonly name: string; readonly address: string };
  /** The name of the key that sent it; null: none, or it was received. */
  readonly author: string | null;
  readonly subject: string;
  /** The beginning of its text, without what it quotes. */
  readonly preview: string;
  readonly date: Date;
}

/** The last ones, when there are more. */
export const MAX_NEW_EMAILS = 20;
/** The beginning of each text, in characters. */
export const MAX_PREVIEW_CHARS = 500;
