/** What an account puts below what was written: a signature, and the footer that a company prescribes. */

/** A signature, with variables of SIGNATURE_VARIABLES, or a footer, without any. */
export interface ClosingText {
  readonly text: string;
  /** null: the text, in HTML. */
  readonly html: string | null;
}

export interface Footer extends ClosingText {
  /** Only on the first email of a thread that has it; else on each. */
  readonly oncePerThread: boolean;
}

/** The variables of signatures. All are texts, perhaps empty. */
export const SIGNATURE_VARIABLES = ['author.name', 'account.id', 'account.name', 'account.address'] as const;
