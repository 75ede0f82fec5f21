/**
 * Texts for people who do not call the API: the page for a recipient who leaves a list, and the lines around quotes, each in
 * the language of its reader. Texts for callers are in errors.ts; no other file has German texts.
 */

/** Title and text of the page at the link to unsubscribe. `{list}` and `{address}` are filled in. */
export const UNSUBSCRIBE_TEXTS = {
  de: {
    ask: ['Abmelden', 'Soll {address} keine E-Mails der Liste „{list}“ mehr bekommen?'],
    done: ['Abgemeldet', '{address} bekommt keine E-Mails der Liste „{list}“ mehr.'],
    unknown: [
      'Unbekannter Link',
      'Dieser Link zum Abmelden ist unvollständig oder falsch. Bitte öffnen Sie ihn direkt aus der E-Mail.',
    ],
    bad_request: [
      'Nicht abgemeldet',
      'Die Anfrage war unvollständig. Bitte benutzen Sie den Knopf auf der Seite.',
    ],
    busy: ['Zu viele Anfragen', 'Bitte versuchen Sie es in einer Minute noch einmal.'],
    unavailable: [
      'Zurzeit nicht möglich',
      'Bitte versuchen Sie es später noch einmal. Es wurde nichts geändert.',
    ],
  },
  en: {
    ask: ['Unsubscribe', 'Stop sending emails of the list “{list}” to {address}?'],
    done: ['Unsubscribed', '{address} gets no more emails of the list “{list}”.'],
    unknown: [
      'Unknown link',
      'This link to unsubscribe is incomplete or wrong. Please open it from the email itself.',
    ],
    bad_request: ['Not unsubscribed', 'The request was incomplete. Please use the button on the page.'],
    busy: ['Too many requests', 'Please try again in a minute.'],
    unavailable: ['Not possible right now', 'Please try again later. Nothing was changed.'],
  },
} as const;

/** The button of that page. */
export const UNSUBSCRIBE_BUTTON = { de: 'Abmelden', en: 'Unsubscribe' } as const;

/** Title and text of the page on which a consent to OAuth2 ends. */
export const CONSENT_TEXTS = {
  de: {
    given: ['Zugriff erteilt', 'Das Postfach ist verbunden. Sie können dieses Fenster schließen.'],
    denied: ['Kein Zugriff', 'Der Zugriff auf das Postfach wurde abgelehnt. Es wurde nichts geändert.'],
    other_address: [
      'Anderes Postfach',
      'Sie sind beim Anbieter mit einer anderen Adresse angemeldet. Bitte melden Sie sich dort ab, lassen Sie sich einen neuen Link geben und melden Sie sich mit der Adresse dieses Postfachs an.',
    ],
    failed: [
      'Nicht verbunden',
      'Der Anbieter hat den Zugriff nicht erteilt. Bitte lassen Sie sich einen neuen Link geben.',
    ],
    changed: [
      'Nicht verbunden',
      'Das Konto wurde inzwischen geändert. Bitte lassen Sie sich einen neuen Link geben.',
    ],
    unknown: [
      'Link abgelaufen',
      'Dieser Link wurde schon benutzt, ist abgelaufen oder wurde durch einen neueren ersetzt. Bitte lassen Sie sich einen neuen geben.',
    ],
    busy: ['Zu viele Anfragen', 'Bitte versuchen Sie es in einer Minute noch einmal.'],
    unavailable: [
      'Zurzeit nicht möglich',
      'Bitte laden Sie diese Seite in einer Minute neu oder lassen Sie sich einen neuen Link geben.',
    ],
  },
  en: {
    given: ['Access granted', 'The mailbox is connected. You can close this window.'],
    denied: ['No access', 'Access to the mailbox was denied. Nothing was changed.'],
    other_address: [
      'Another mailbox',
      'You are signed in to your provider with another address. Sign out there, ask for a new link, and sign in with the address of this mailbox.',
    ],
    failed: ['Not connected', 'The provider did not grant access. Please ask for a new link.'],
    changed: ['Not connected', 'The account was changed in the meantime. Please ask for a new link.'],
    unknown: [
      'Link expired',
      'This link was used already, has expired, or was replaced by a newer one. Please ask for a new one.',
    ],
    busy: ['Too many requests', 'Please try again in a minute.'],
    unavailable: ['Not possible right now', 'Please reload this page in a minute, or ask for a new link.'],
  },
} as const;

/** The lines around a quote. `{day}`, `{time}` and `{writer}` of the attribution are filled in. */
export const QUOTE_TEXTS = {
  de: {
    cut: '[… gekürzt …]',
    attribution: 'Am {day} um {time} schrieb {writer}:',
    title: '---------- Weitergeleitete Nachricht ----------',
    from: 'Von',
    date: 'Datum',
    subject: 'Betreff',
    to: 'An',
    cc: 'Cc',
  },
  en: {
    cut: '[… shortened …]',
    attribution: 'On {day} at {time}, {writer} wrote:',
    title: '---------- Forwarded message ----------',
    from: 'From',
    date: 'Date',
    subject: 'Subject',
    to: 'To',
    cc: 'Cc',
  },
} as const;

/** Stands in the text of an encrypted email. */
export const ENCRYPTED_MAIL = {
  smime_encrypted:
    'Diese E-Mail ist verschlüsselt (S/MIME). Ihr Text kann hier nicht gelesen werden, sondern nur mit dem Schlüssel des Empfängers in einem Mailprogramm.',
  pgp_encrypted:
    'Diese E-Mail ist verschlüsselt (PGP). Ihr Text kann hier nicht gelesen werden, sondern nur mit dem Schlüssel des Empfängers in einem Mailprogramm.',
} as const;

/** The text of an invitation, where its email has none. `{summary}`, `{count}` and `{zone}` are filled in. */
export const INVITATION_TEXTS = {
  request: 'Einladung: {summary}',
  update: 'Geänderte Einladung: {summary}',
  cancel: 'Abgesagt: {summary}',
  accepted: 'Zusage: {summary}',
  tentative: 'Zusage unter Vorbehalt: {summary}',
  declined: 'Absage: {summary}',
  reply: 'Antwort auf eine Einladung: {summary}',
  counter: 'Anderer Vorschlag: {summary}',
  decline_counter: 'Vorschlag abgelehnt: {summary}',
  refresh: 'Bitte um den aktuellen Stand: {summary}',
  event: 'Termin: {summary}',
  task: 'Aufgabe: {summary}',
  untitled: 'ohne Titel',
  when: 'Wann',
  due: 'Fällig',
  repeats: 'Wiederholung',
  where: 'Wo',
  from: 'Von',
  to: 'Eingeladen',
  clock: 'Uhr',
  unknownZone: 'Zeitzone „{zone}“',
  more: 'und {count} weitere',
  DAILY: 'täglich',
  WEEKLY: 'wöchentlich',
  MONTHLY: 'monatlich',
  YEARLY: 'jährlich',
  otherRule: 'ja',
} as const;

/** Subject and text of an answer to an invitation. `{summary}` is filled in. */
export const INVITATION_ANSWERS = {
  de: {
    accepted: 'Zugesagt: {summary}',
    tentative: 'Unter Vorbehalt zugesagt: {summary}',
    declined: 'Abgelehnt: {summary}',
  },
  en: {
    accepted: 'Accepted: {summary}',
    tentative: 'Tentatively accepted: {summary}',
    declined: 'Declined: {summary}',
  },
} as const;

/** Before the subject of an email that an absence answers; RFC 3834 §3.1.5. */
export const AUTOMATIC_ANSWER_SUBJECT = { de: 'Automatische Antwort:', en: 'Automatic reply:' } as const;
