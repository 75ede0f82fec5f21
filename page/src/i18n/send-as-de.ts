/** The texts about who a message goes out as, in German, loaded with the writer. */
import type { SendAsMessages } from './send-as-en.ts';

export const sendAsDe: SendAsMessages = {
  anyOf: (pattern) => `Beliebige Adresse ${pattern}`,
  typed: (pattern) => `Der freie Teil von ${pattern}`,
  writtenTo: 'An diese Adresse wurde geschrieben',
  unfinished: 'Vervollständigen Sie die Absenderadresse.',
  refused: (address) =>
    `${address} ist als Absender nicht mehr möglich. Ihr Text bleibt erhalten; wählen Sie eine andere Adresse.`,
  closing: 'Unter Ihrem Text',
  signature: 'Signatur',
  signatureShown: 'Signatur, wie sie gesendet wird',
  footer: 'Pflichtangaben',
  footerShown: 'Pflichtangaben, wie sie gesendet werden',
  footerAdded: 'stehen in jeder E-Mail, hier nicht abwählbar',
  footerOnce: 'werden eingefügt, wenn keine frühere E-Mail des Vorgangs sie hat',
  isFilledIn: 'Was in Klammern steht, wird beim Senden eingesetzt.',
  image: 'Bild',
};
