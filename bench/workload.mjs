/** What is measured: both sides of a comparison get exactly this. */
export const CONCURRENCY = 50;

/** A mail of 2 kB. */
export const mail = {
  to: 'Ada Lovelace <ada@example.org>',
  subject: 'Ihre Bestellung',
  text_body: 'Guten Tag, vielen Dank für Ihre Bestellung bei uns.\n'.repeat(36),
};
