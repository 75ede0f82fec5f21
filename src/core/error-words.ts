/** The parts of error texts that stand for themselves, in German and English. */

/** A text in both languages of errors. */
export interface Words {
  readonly de: string;
  readonly en: string;
}

/** The `{detail}` of `invalid_request`. */
export const REQUEST_FAULTS = {
  not_http: { de: 'Sie ist kein gültiges HTTP.', en: 'it is not valid HTTP.' },
  not_https: {
    de: 'Hier wird nur HTTPS gesprochen: Die Adresse muss mit https:// beginnen.',
    en: 'only HTTPS is spoken here: the address must begin with https://.',
  },
  bad_path: { de: 'Die Adresse ist fehlerhaft kodiert.', en: 'the address is badly encoded.' },
  bad_parameter: {
    de: 'Der Parameter {field} ist fehlerhaft kodiert: Er muss UTF-8 sein, mit % und zwei Ziffern für jedes Byte.',
    en: 'the parameter {field} is badly encoded: it must be UTF-8, with % and two digits for each byte.',
  },
  wrong_content_length: {
    de: 'Content-Length passt nicht zum Inhalt.',
    en: 'Content-Length does not match the content.',
  },
  chunks_in_old_http: {
    de: 'Transfer-Encoding gibt es nur in HTTP/1.1.',
    en: 'Transfer-Encoding exists only in HTTP/1.1.',
  },
  repeated_header: {
    de: 'Die Kopfzeile {field} ist mehrfach angegeben.',
    en: 'the header {field} is given more than once.',
  },
  missing_host: { de: 'Die Kopfzeile Host fehlt.', en: 'the header Host is missing.' },
  invalid_host: { de: 'Die Kopfzeile Host ist ungültig.', en: 'the header Host is invalid.' },
  cut_off: { de: 'Die Übertragung brach ab.', en: 'the transfer was cut off.' },
  content_of_read: {
    de: 'Eine Anfrage mit GET oder HEAD darf keinen Inhalt haben.',
    en: 'a request with GET or HEAD may have no content.',
  },
  missing_message: { de: 'Die Nachricht fehlt.', en: 'the message is missing.' },
  lost_number: {
    de: '{field} enthält eine Zahl, die nicht gespeichert werden kann: -0, oder zu groß.',
    en: '{field} contains a number that cannot be stored: -0, or too large.',
  },
  not_an_object: { de: 'Ein JSON-Objekt wird erwartet.', en: 'a JSON object is expected.' },
  nested_too_deep: { de: 'zu tief verschachtelt.', en: 'nested too deeply.' },
  too_many_elements: { de: 'zu viele Elemente.', en: 'too many elements.' },
  too_many_fields: { de: 'zu viele Felder in einem Objekt.', en: 'too many fields in one object.' },
  missing: { de: '{field} fehlt.', en: '{field} is missing.' },
  one_content: {
    de: '{field} muss genau eines der Felder content, upload_id und attachment_id haben.',
    en: '{field} must have exactly one of the fields content, upload_id and attachment_id.',
  },
  repeated: { de: '{field} ist mehrfach angegeben.', en: '{field} is given more than once.' },
  wrong_type: { de: '{field} muss {type} sein.', en: '{field} must be {type}.' },
  not_one_of: {
    de: '{field} muss einer dieser Werte sein: {values}.',
    en: '{field} must be one of these values: {values}.',
  },
  foreign_origin: {
    de: '{field} muss zu PUBLIC_URL oder zu einer Adresse in CONSENT_RETURN_ORIGINS gehören.',
    en: '{field} must belong to PUBLIC_URL or to an origin in CONSENT_RETURN_ORIGINS.',
  },
  exactly_one_of: {
    de: 'Genau eines der Felder {field} muss angegeben werden.',
    en: 'exactly one of the fields {field} must be given.',
  },
  needs_filter: {
    de: '{field} oder mindestens ein Filter muss angegeben werden.',
    en: '{field} or at least one filter must be given.',
  },
  malformed: { de: '{field} hat nicht die verlangte Form.', en: '{field} does not have the required form.' },
  not_in_template: {
    de: '{field} kommt in der Vorlage nicht vor.',
    en: '{field} does not occur in the template.',
  },
  added_and_removed: {
    de: '{value} steht in {field} und in {other}.',
    en: '{value} is in {field} and in {other}.',
  },
  not_stored: {
    de: '{field} ist nicht gespeichert. Ein neuer Eintrag wird als Zeichenkette angegeben.',
    en: '{field} is not stored. A new entry is given as a string.',
  },
  stored_differently: {
    de: '{field} ist anders gespeichert und kann hier nicht geändert werden.',
    en: '{field} is stored differently and cannot be changed here.',
  },
  null_send_at: {
    de: 'send_at darf hier nicht null sein: Ein Zeitpunkt, oder "now" für sofort.',
    en: 'send_at may not be null here: give a time, or "now" for at once.',
  },
  not_one_line: {
    de: '{field} muss eine Zeile ohne Steuerzeichen sein, auch ohne solche für die Schreibrichtung.',
    en: '{field} must be one line without control characters, including those for the direction of writing.',
  },
  not_a_moment: {
    de: '{field} muss ein Zeitpunkt der Form 2026-01-31T12:00:00Z sein.',
    en: '{field} must be a time of the form 2026-01-31T12:00:00Z.',
  },
  no_such_moment: { de: '{field} ist kein gültiger Zeitpunkt.', en: '{field} is not a valid time.' },
  not_after: { de: '{field} muss nach {other} liegen.', en: '{field} must be after {other}.' },
  too_many_steps: {
    de: 'Von since bis until dürfen es höchstens {limit} Schritte sein.',
    en: 'there may be at most {limit} steps from since to until.',
  },
  too_small: { de: '{field} muss mindestens {limit} sein.', en: '{field} must be at least {limit}.' },
  too_large: { de: '{field} darf höchstens {limit} sein.', en: '{field} may be at most {limit}.' },
  empty: { de: '{field} darf nicht leer sein.', en: '{field} may not be empty.' },
  too_long: {
    de: '{field} darf höchstens {limit} Zeichen haben.',
    en: '{field} may have at most {limit} characters.',
  },
  no_entries: {
    de: '{field} muss mindestens einen Eintrag haben.',
    en: '{field} must have at least one entry.',
  },
  too_few_entries: {
    de: '{field} muss mindestens {limit} Einträge haben.',
    en: '{field} must have at least {limit} entries.',
  },
  too_many_entries: {
    de: '{field} darf höchstens {limit} Einträge haben.',
    en: '{field} may have at most {limit} entries.',
  },
  needed_with: {
    de: 'Zusammen mit {other} muss auch {field} angegeben werden; null ist erlaubt.',
    en: '{field} must be given together with {other}; null is allowed.',
  },
  only_with: {
    de: '{field} wirkt nur zusammen mit {other}.',
    en: '{field} has an effect only together with {other}.',
  },
  not_with: {
    de: '{field} wirkt nicht zusammen mit {other}.',
    en: '{field} has no effect together with {other}.',
  },
  address_and_domain: {
    de: 'address und domain schließen einander aus.',
    en: 'address and domain exclude one another.',
  },
} as const;
export type RequestFault = keyof typeof REQUEST_FAULTS;

/** The `{type}` of `wrong_type`, by JSON type. */
const TYPE_TEXTS: Readonly<Record<string, Words>> = {
  integer: { de: 'eine ganze Zahl', en: 'an integer' },
  string: { de: 'eine Zeichenkette', en: 'a string' },
  array: { de: 'eine Liste', en: 'a list' },
  object: { de: 'ein Objekt', en: 'an object' },
  boolean: { de: 'true oder false', en: 'true or false' },
  strings: {
    de: 'eine Zeichenkette oder eine Liste von Zeichenketten',
    en: 'a string or a list of strings',
  },
  texts: { de: 'eine Liste von Zeichenketten', en: 'a list of strings' },
  objects: { de: 'eine Liste von Objekten', en: 'a list of objects' },
};

export const typeText = (type: string): Words => TYPE_TEXTS[type] ?? { de: type, en: type };

/** Of several, one is enough. */
export const anyOfTexts = (texts: readonly Words[]): Words => ({
  de: texts.map(({ de }) => de).join(' oder '),
  en: texts.map(({ en }) => en).join(' or '),
});

/** Why nothing is sent to an address, the `{detail}` of `recipient_suppressed`. */
export const SUPPRESSION_TEXTS = {
  repeated_soft_bounces: {
    de: 'mehrere Zustellungen nacheinander sind gescheitert',
    en: 'several deliveries in a row failed',
  },
  hard_bounce: { de: 'die Adresse nimmt keine E-Mails an', en: 'the address takes no email' },
  complaint: {
    de: 'der Empfänger hat eine E-Mail als Spam gemeldet',
    en: 'the recipient reported an email as spam',
  },
  manual: { de: 'von Hand gesperrt', en: 'suppressed by hand' },
} as const;

/** The faults of a webhook's address, the `{detail}` of `invalid_webhook_url`. */
export const WEBHOOK_URL_TEXTS = {
  not_a_url: { de: 'Sie ist keine vollständige Web-Adresse.', en: 'it is not a complete URL.' },
  scheme: { de: 'Sie muss mit https:// beginnen.', en: 'it must begin with https://.' },
  without_tls: {
    de: 'Sie muss mit https:// beginnen; http ist nur erlaubt, wo WEBHOOK_ALLOW es erlaubt.',
    en: 'it must begin with https://; http is allowed only where WEBHOOK_ALLOW allows it.',
  },
  credentials: {
    de: 'Sie darf keine Zugangsdaten enthalten; dafür gibt es headers.',
    en: 'it may not contain credentials; use headers for them.',
  },
  port: {
    de: 'Sie nennt einen Port, an dem kein Webserver antwortet.',
    en: 'it names a port on which no web server answers.',
  },
} as const;

/** The `{hint}` of `unknown_field` and `unknown_parameter`, when a known name is close. */
export const closeNameText = (name: string): Words => ({
  de: ` Vielleicht ist ${shorten(name)} gemeint.`,
  en: ` Did you mean ${shorten(name)}?`,
});

/** Values for the `{x}` of a text. */
export type TextValues = Readonly<Record<string, string | number | Words>>;

/** The text in both languages, with its values. */
export const fillInWords = ({ de, en }: Words, values: TextValues = {}): Words => ({
  de: fillIn(de, 'de', values),
  en: fillIn(en, 'en', values),
});

function fillIn(text: string, language: keyof Words, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    if (typeof value === 'object') return value[language];
    // An empty text would leave a gap that says nothing.
    return name === 'value' && value === '' ? '""' : shorten(value);
  });
}

/** An error echoes a caller's value only this far, in characters. */
const MAX_ECHO = 200;

export function shorten(value: string | number): string {
  const text = String(value).replace(/[\u0000-\u001f\u007f]/g, '�');
  return text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text;
}
