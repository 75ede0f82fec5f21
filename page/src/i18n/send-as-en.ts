/** The texts about who a message goes out as, in English, loaded with the writer; `send-as-de.ts` has the same keys. */
export const sendAsEn = {
  /** `pattern`: such as `…@example.com`. */
  anyOf: (pattern: string) => `Any address ${pattern}`,
  /** The label of the part that a person types. */
  typed: (pattern: string) => `The part of ${pattern} to fill in`,
  writtenTo: 'The email was written to this address',
  unfinished: 'Complete the sender’s address.',
  refused: (address: string) =>
    `${address} can no longer be used as a sender. Your text is kept; choose another address.`,
  closing: 'Below your text',
  signature: 'Signature',
  signatureShown: 'Signature as it will be sent',
  footer: 'Company footer',
  footerShown: 'Company footer as it will be sent',
  footerAdded: 'added to every email, cannot be removed here',
  footerOnce: 'added unless an earlier email in this conversation has it',
  isFilledIn: 'The parts in braces are filled in when the email is sent.',
  image: 'Image',
};

export type SendAsMessages = typeof sendAsEn;
