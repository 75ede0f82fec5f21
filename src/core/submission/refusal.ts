/** Refusals of submitted messages, as a client gets them: RFC 5321 §4.2, with the enhanced status codes of RFC 3463. */

export interface Refusal {
  /** 4yz: a repeat may succeed; 5yz: it will not. */
  readonly code: number;
  /** Such as `5.7.1`. */
  readonly status: string;
  /** English, in one line. */
  readonly text: string;
}

/** A message that can't be sent as it was submitted. */
export class RefusedSubmission extends Error {
  override readonly name = 'RefusedSubmission';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.text);
    this.refusal = refusal;
  }
}

export const refuse = (code: number, status: string, text: string): RefusedSubmission =>
  new RefusedSubmission({ code, status, text });
