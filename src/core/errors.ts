/**
 * The registry of every error that a caller can get: stable `code`, HTTP status, German text.
 * The text is the `error` of a response; the internal reason (`cause`, `message`) goes to the log only.
 */
import type { NewEmail } from './thread/new-email.ts';

interface ErrorEntry {
  /** HTTP status of the response. */
  readonly status: number;
  /** German text for `error`; `{x}` is replaced by the value of that name. */
  readonly text: string;
  /** True when the same request may succeed later without being changed. */
  readonly temporary: boolean;
}

const permanent = (status: number, text: string): ErrorEntry => ({ status, text, temporary: false });
const temporary = (status: number, text: string): ErrorEntry => ({ status, text, temporary: true });

/** Every error code the service answers with. Codes are stable; texts may be reworded. */
export const ERRORS = {
  // Faults in the request
  missing_recipient_or_subject: permanent(400, 'Empfänger (to) und Betreff (subject) sind Pflichtfelder.'),
  missing_body: permanent(400, 'Mindestens eines der Felder text_body oder html_body muss angegeben werden.'),
  invalid_json: permanent(400, 'Der Inhalt der Anfrage ist kein gültiges JSON.'),
  invalid_request: permanent(400, 'Die Anfrage ist ungültig: {detail}'),
  unknown_field: permanent(400, 'Unbekanntes Feld: {field}.{hint}'),
  unknown_parameter: permanent(400, 'Unbekannter Parameter: {field}.{hint}'),
  unknown_header: permanent(
    400,
    'Diese Anfrage kennt die Kopfzeile {field} nicht.{hint} Sie wird abgewiesen, weil die Kopfzeile sonst wirkungslos bliebe.',
  ),
  duplicate_field: permanent(400, 'Das Feld {field} ist mehrfach angegeben.'),
  invalid_uuid: permanent(400, '{field} ist keine gültige UUID.'),
  invalid_address: permanent(400, 'Ungültige E-Mail-Adresse in {field}: {value}'),
  invalid_domain: permanent(400, 'Ungültige Domain in {field}: {value}'),
  public_domain: permanent(
    400,
    'Öffentliche Domains gehören keinem Kunden und können nicht eingetragen werden: {value}',
  ),
  list_incomplete: permanent(
    400,
    'complete muss true sein: Nur eine vollständig gelesene Liste kann zurückgeschrieben werden, denn fehlende Einträge würden entfernt.',
  ),
  too_many_entries: permanent(400, '{field} hat zu viele Einträge: höchstens {limit} sind erlaubt.'),
  too_many_recipients: permanent(400, 'Zu viele Empfänger: höchstens {limit} sind erlaubt.'),
  invalid_message_id: permanent(400, '{field} ist keine gültige Message-ID der Form <lokal@domain>.'),
  header_injection: permanent(400, '{field} enthält unzulässige Steuerzeichen.'),
  header_not_allowed: permanent(400, 'Die Kopfzeile {field} kann nicht gesetzt werden.'),
  invalid_tag: permanent(
    400,
    'Ungültiges Schlagwort in tags: {value}. Es hat 1 bis 64 Buchstaben und Ziffern, danach auch _ . : @ + -',
  ),
  metadata_too_large: permanent(400, 'metadata darf als JSON höchstens {limit} Byte haben.'),
  invalid_text: permanent(
    400,
    '{field} enthält Zeichen, die kein Text sind (NUL oder ein halbes Unicode-Zeichen).',
  ),
  invalid_base64: permanent(400, 'Der Inhalt von {field} ist kein gültiges Base64.'),
  invalid_content_type: permanent(400, '{field} ist kein gültiger MIME-Typ: {value}'),
  invalid_content_id: permanent(
    400,
    '{field} ist keine gültige Content-ID: höchstens 200 ASCII-Zeichen ohne Leerzeichen, Anführungszeichen und Klammern.',
  ),
  invalid_content_digest: permanent(400, 'Content-Digest hat nicht die Form sha-256=:Base64:.'),
  content_digest_mismatch: permanent(400, 'Der SHA-256 der Datei stimmt nicht mit Content-Digest überein.'),
  invalid_filename: permanent(400, '{field} fehlt oder ist leer.'),
  invalid_cursor: permanent(400, 'Der Cursor ist ungültig.'),
  invalid_send_at: permanent(
    400,
    'send_at muss ein Zeitpunkt in der Zukunft sein, höchstens ein Jahr entfernt, der Form 2026-01-31T12:00:00Z.',
  ),
  invalid_lane: permanent(400, 'lane muss 1 bis 64 Zeichen ohne Steuerzeichen haben.'),
  unsubscribe_unavailable: permanent(
    400,
    'unsubscribe ist nicht möglich: PUBLIC_URL ist nicht eingerichtet.',
  ),
  invalid_list: permanent(400, 'unsubscribe.list muss 1 bis 64 Zeichen ohne Steuerzeichen haben.'),
  one_recipient_expected: permanent(
    400,
    'Eine E-Mail mit unsubscribe muss genau einen Empfänger haben: Der Abmeldelink gilt nur für ihn.',
  ),
  template_invalid: permanent(400, 'Die Vorlage ist in {field}, Zeile {line}, Spalte {column}, fehlerhaft.'),
  template_variable_missing: permanent(
    400,
    'Die Variable {variable} fehlt: Die Vorlage braucht sie in {field}, Zeile {line}.',
  ),
  template_too_complex: permanent(400, 'Die Vorlage ist in {field} zu aufwendig oder ergibt zu viel Text.'),
  template_empty: permanent(400, 'Mit diesen Variablen bleibt {field} der Vorlage leer.'),
  variables_too_large: permanent(400, 'variables darf als JSON höchstens {limit} Byte haben.'),
  unknown_assignee: permanent(
    400,
    'Der Thread kann {value} nicht zugewiesen werden. In seinem Konto dürfen antworten: {known}.',
  ),
  unknown_account: permanent(400, 'Das Konto {value} ist nicht eingerichtet.'),
  invalid_idempotency_key: permanent(
    400,
    'Idempotency-Key muss aus 1 bis 256 sichtbaren ASCII-Zeichen bestehen.',
  ),
  invalid_webhook_url: permanent(400, 'url ist keine brauchbare Adresse: {detail}'),
  webhook_address_refused: permanent(
    400,
    'An {value} werden keine Ereignisse gesendet: Die Adresse ist nicht öffentlich. WEBHOOK_ALLOW kann sie erlauben.',
  ),
  invalid_webhook_header: permanent(
    400,
    'Die Kopfzeile {field} ist nicht erlaubt oder enthält unzulässige Zeichen.',
  ),
  unauthorized: permanent(401, 'Das Zugangsgeheimnis fehlt oder ist falsch.'),
  login_failed: permanent(
    401,
    'Die Anmeldung ist fehlgeschlagen: Der Schlüssel ist falsch, oder der Link ist abgelaufen oder schon benutzt.',
  ),
  cross_site_request: permanent(
    403,
    'Die Anfrage kommt nicht von der Oberfläche dieses Dienstes und gilt deshalb nicht für die Anmeldung im Browser.',
  ),
  session_not_found: permanent(404, 'Diese Sitzung wurde nicht gefunden.'),
  unknown_host: permanent(
    421,
    'Unter dem Namen {value} ist dieser Dienst nicht erreichbar. Zulässige Namen stehen in PUBLIC_URL oder ALLOWED_HOSTS.',
  ),
  forbidden_right: permanent(403, 'Dem Schlüssel fehlt das Recht {right}.'),
  forbidden_account: permanent(
    403,
    'Der Schlüssel ist auf Konten beschränkt; diese Anfrage betrifft alle Konten.',
  ),
  key_exceeds_caller: permanent(
    403,
    'Ein Schlüssel kann nicht mehr Rechte, mehr Konten oder eine längere Gültigkeit vergeben, als er selbst hat.',
  ),
  not_found: permanent(404, 'Diese Adresse gibt es nicht.'),
  thread_not_found: permanent(404, 'Der Thread wurde nicht gefunden.'),
  email_not_found: permanent(404, 'Die E-Mail wurde nicht gefunden.'),
  erasure_not_found: permanent(404, 'Diese Löschung gibt es nicht.'),
  draft_not_found: permanent(404, 'Der Entwurf wurde nicht gefunden.'),
  draft_file_not_found: permanent(404, 'Der Entwurf hat keine Datei {value}.'),
  template_not_found: permanent(404, 'Diese Vorlage oder diese Version von ihr gibt es nicht.'),
  variant_not_found: permanent(404, 'Diese E-Mail hat keine solche Variante.'),
  quarantined_not_found: permanent(404, 'Es gibt keine zurückgestellte Nachricht mit dieser Kennung.'),
  attachment_not_found: permanent(404, 'Der Anhang wurde nicht gefunden.'),
  image_not_found: permanent(404, 'Dieses Bild gibt es nicht, oder seine Adresse ist abgelaufen.'),
  upload_not_found: permanent(
    404,
    'Die hochgeladene Datei wurde nicht gefunden, oder ihre Zeit ist abgelaufen.',
  ),
  suppression_not_found: permanent(404, 'Die Adresse ist nicht gesperrt.'),
  key_not_found: permanent(404, 'Der Schlüssel wurde nicht gefunden.'),
  unsubscribe_not_found: permanent(404, 'Es gibt keine Abmeldung mit dieser Kennung.'),
  webhook_not_found: permanent(404, 'Der Webhook wurde nicht gefunden.'),
  method_not_allowed: permanent(405, 'Diese Methode ist hier nicht erlaubt.'),
  email_deleted: permanent(
    410,
    'Die E-Mail, die mit diesem Idempotency-Key gesendet wurde, ist gelöscht. Sie wird nicht noch einmal gesendet.',
  ),
  request_timeout: temporary(408, 'Die Anfrage kam nicht rechtzeitig vollständig an.'),
  idempotency_key_reused: permanent(
    409,
    'Dieser Idempotency-Key wurde bereits für eine andere Anfrage verwendet.',
  ),
  idempotency_in_progress: temporary(409, 'Die erste Anfrage mit diesem Idempotency-Key läuft noch.'),
  draft_being_sent: temporary(409, 'Der Entwurf wird gerade gesendet.'),
  not_cancellable: permanent(
    409,
    'Die E-Mail kann nicht abgebrochen werden: Sie wartet nicht auf den Versand oder wird gerade gesendet.',
  ),
  not_editable: permanent(
    409,
    'Die E-Mail kann nicht mehr geändert werden: Sie wartet nicht auf ihren ersten Versand oder wird gerade gesendet.',
  ),
  own_address: permanent(
    409,
    'Die Adresse gehört einem Konto dieses Dienstes und kann nicht gelöscht werden.',
  ),
  not_deletable: permanent(
    409,
    'Die E-Mail kann nicht gelöscht werden: Sie wartet auf den Versand, wird gerade gesendet, oder ihr Versand ist ungeklärt.',
  ),
  no_sent_copy_to_retry: permanent(
    409,
    'Von der E-Mail steht keine Kopie für den Gesendet-Ordner aus: Sie ist schon dort, oder es wird keine abgelegt.',
  ),
  not_retryable: permanent(
    409,
    'Die E-Mail kann nicht erneut gesendet werden: Sie ist gesendet, wartet bereits oder wird gerade gesendet.',
  ),
  no_invitation: permanent(
    409,
    'Die E-Mail enthält keine Einladung, auf die geantwortet werden kann. Es wurde nichts gesendet.',
  ),
  invitation_cancelled: permanent(409, 'Der Termin ist abgesagt. Es wurde nichts gesendet.'),
  invitation_replaced: permanent(
    409,
    'Die Einladung gilt nicht mehr: Die E-Mail {value} ersetzt sie. Es wurde nichts gesendet.',
  ),
  not_invited: permanent(
    409,
    'Eingeladen ist nicht die Adresse des Kontos ({value}). Es wurde nichts gesendet.',
  ),
  organizer_not_sender: permanent(
    409,
    'Der Organisator ({value}) ist nicht als Absender der E-Mail bestätigt. Wer ihm antworten will, nennt seine Adresse in organizer. Es wurde nichts gesendet.',
  ),
  thread_has_moved_on: permanent(
    409,
    'Im Thread ist inzwischen eine neuere E-Mail als die in if_newest. Es wurde nichts gesendet.',
  ),
  email_not_in_thread: permanent(409, 'Mindestens eine der E-Mails gehört nicht zu diesem Thread.'),
  thread_would_be_empty: permanent(409, 'Mindestens eine E-Mail muss im Thread bleiben.'),
  different_accounts: permanent(
    409,
    'Threads und E-Mails verschiedener Konten können nicht verbunden werden.',
  ),
  not_unknown: permanent(409, 'Der Versand dieser E-Mail ist nicht ungeklärt.'),
  too_many_keys: permanent(409, 'Es gibt bereits {limit} Schlüssel; mehr sind nicht erlaubt.'),
  too_many_webhooks: permanent(409, 'Es gibt bereits {limit} Webhooks; mehr sind nicht erlaubt.'),
  webhook_secret_unreadable: permanent(
    409,
    'Das Geheimnis des Webhooks ist mit einem früheren API_SECRET verschlüsselt. Es muss ein neues angefordert werden.',
  ),
  thread_changed: permanent(412, 'Der Thread wurde inzwischen geändert. Er muss neu gelesen werden.'),
  draft_changed: permanent(
    412,
    'Der Entwurf wurde inzwischen geändert: Er hat eine andere Version als die in If-Match.',
  ),
  email_changed: permanent(
    412,
    'Die E-Mail wurde inzwischen geändert: Sie hat eine andere Version als die in If-Match.',
  ),
  template_changed: permanent(
    412,
    'Die Vorlage wurde inzwischen geändert: Ihre neueste Version ist nicht die in If-Match.',
  ),
  version_required: permanent(428, 'If-Match muss die Version nennen, die geändert wird, wie "3".'),
  payload_too_large: permanent(413, 'Die Anfrage ist zu groß.'),
  attachments_too_large: permanent(
    413,
    'Die Anhänge sind zusammen zu groß: höchstens {limit} Bytes sind erlaubt.',
  ),
  uri_too_long: permanent(414, 'Die Adresse der Anfrage ist zu lang.'),
  unsupported_media_type: permanent(415, 'Die Anfrage muss den Content-Type application/json haben.'),
  message_expected: permanent(415, 'Die Anfrage muss den Content-Type message/rfc822 haben.'),
  file_expected: permanent(
    415,
    'Die Anfrage muss den Content-Type application/octet-stream haben. Der Typ der Datei steht im Parameter content_type.',
  ),
  unsupported_content_encoding: permanent(
    415,
    'Komprimierte Anfragen (Content-Encoding) werden nicht unterstützt.',
  ),
  recipient_suppressed: permanent(
    422,
    'An {value} wird nichts gesendet: Die Adresse ist seit {since} gesperrt ({detail}). Die Sperre muss erst aufgehoben werden.',
  ),
  recipient_unsubscribed: permanent(
    422,
    'An {value} wird nichts gesendet: Die Adresse hat sich von der Liste {list} abgemeldet.',
  ),
  events_expired: permanent(
    410,
    'Ereignisse nach dieser Stelle werden nicht mehr aufbewahrt. Es geht mit {value} weiter.',
  ),
  precondition_failed: permanent(412, 'Die Datei entspricht nicht der Vorbedingung der Anfrage.'),
  range_not_satisfiable: permanent(416, 'Der angeforderte Bereich liegt außerhalb der Datei.'),
  headers_too_large: permanent(431, 'Die Kopfzeilen der Anfrage sind zu groß.'),
  loop_suspected: temporary(
    429,
    'Mit {value} wurden zu viele automatische E-Mails ausgetauscht: Vermutlich antworten sich zwei Programme gegenseitig. Es wurde nichts gesendet.',
  ),
  too_many_failed_logins: temporary(
    429,
    'Zu viele Anfragen mit falschem Zugangsgeheimnis. Bitte später erneut versuchen; das richtige gilt jederzeit.',
  ),
  rate_limited: temporary(429, 'Zu viele Anfragen. Bitte später erneut versuchen.'),

  // Failures on our side or in services that we depend on
  send_failed: permanent(500, 'Die E-Mail konnte nicht gesendet werden.'),
  send_deferred: temporary(500, 'Die E-Mail konnte vorübergehend nicht gesendet werden.'),
  send_unknown: permanent(
    500,
    'Die Verbindung brach nach der Übergabe ab: Es ist unbekannt, ob die E-Mail gesendet wurde. Sie wird nicht automatisch erneut gesendet.',
  ),
  unsupported_transfer_coding: permanent(
    501,
    'Transfer-Encoding darf nur chunked sein: Andere Kodierungen werden nicht unterstützt.',
  ),
  content_missing: permanent(500, 'Der Inhalt ist im Speicher nicht mehr vorhanden.'),
  internal_error: temporary(500, 'Interner Fehler.'),
  commit_unknown: permanent(
    500,
    'Die Verbindung zur Datenbank brach ab: Es ist unbekannt, ob die Anfrage ausgeführt wurde. Vor einer Wiederholung ist das Ergebnis zu prüfen.',
  ),
  database_unavailable: temporary(503, 'Die Datenbank ist derzeit nicht erreichbar.'),
  storage_mismatch: temporary(503, 'Der Dateispeicher gehört nicht zu dieser Datenbank.'),
  storage_unavailable: temporary(503, 'Der Dateispeicher ist derzeit nicht erreichbar.'),
  reading_unavailable: temporary(503, 'E-Mails können derzeit nicht gelesen werden.'),
  disk_full: temporary(
    503,
    'Der Speicherplatz reicht nicht aus. Es wurde nichts gespeichert und nichts gesendet.',
  ),
  uploads_full: temporary(
    503,
    'Für hochgeladene Dateien ist derzeit kein Platz. Sie werden nach einem Tag gelöscht.',
  ),
  not_ready: temporary(503, 'Der Dienst ist nicht bereit: Ein benötigter Dienst ist nicht erreichbar.'),
  clock_skewed: temporary(
    503,
    'Die Uhren dieses Dienstes und der Datenbank weichen um mehr als eine Minute voneinander ab.',
  ),
  clock_in_doubt: temporary(
    503,
    'Die Uhr der Datenbank ist um mehr als einen Tag vorgesprungen. Bis sie bestätigt ist, wird nichts endgültig gelöscht.',
  ),
  busy: temporary(503, 'Der Dienst ist ausgelastet. Bitte später erneut versuchen.'),
  shutting_down: temporary(503, 'Der Dienst wird gerade beendet.'),
} as const satisfies Record<string, ErrorEntry>;

/** The `{detail}` of `invalid_request`. */
const REQUEST_FAULTS = {
  not_http: 'Sie ist kein gültiges HTTP.',
  not_https: 'Hier wird nur HTTPS gesprochen: Die Adresse muss mit https:// beginnen.',
  bad_path: 'Die Adresse ist fehlerhaft kodiert.',
  bad_parameter:
    'Der Parameter {field} ist fehlerhaft kodiert: Er muss UTF-8 sein, mit % und zwei Ziffern für jedes Byte.',
  wrong_content_length: 'Content-Length passt nicht zum Inhalt.',
  chunks_in_old_http: 'Transfer-Encoding gibt es nur in HTTP/1.1.',
  repeated_header: 'Die Kopfzeile {field} ist mehrfach angegeben.',
  missing_host: 'Die Kopfzeile Host fehlt.',
  invalid_host: 'Die Kopfzeile Host ist ungültig.',
  cut_off: 'Die Übertragung brach ab.',
  content_of_read: 'Eine Anfrage mit GET oder HEAD darf keinen Inhalt haben.',
  missing_message: 'Die Nachricht fehlt.',
  lost_number: '{field} enthält eine Zahl, die nicht gespeichert werden kann: -0, oder zu groß.',
  not_an_object: 'Ein JSON-Objekt wird erwartet.',
  nested_too_deep: 'zu tief verschachtelt.',
  too_many_elements: 'zu viele Elemente.',
  too_many_fields: 'zu viele Felder in einem Objekt.',
  missing: '{field} fehlt.',
  one_content: '{field} muss genau eines der Felder content, upload_id und attachment_id haben.',
  repeated: '{field} ist mehrfach angegeben.',
  wrong_type: '{field} muss {type} sein.',
  not_one_of: '{field} muss einer dieser Werte sein: {values}.',
  exactly_one_of: 'Genau eines der Felder {field} muss angegeben werden.',
  malformed: '{field} hat nicht die verlangte Form.',
  not_in_template: '{field} kommt in der Vorlage nicht vor.',
  added_and_removed: '{value} steht in {field} und in {other}.',
  not_stored: '{field} ist nicht gespeichert. Ein neuer Eintrag wird als Zeichenkette angegeben.',
  stored_differently: '{field} ist anders gespeichert und kann hier nicht geändert werden.',
  null_send_at: 'send_at darf hier nicht null sein: Ein Zeitpunkt, oder "now" für sofort.',
  not_one_line: '{field} muss eine Zeile ohne Steuerzeichen sein, auch ohne solche für die Schreibrichtung.',
  not_a_moment: '{field} muss ein Zeitpunkt der Form 2026-01-31T12:00:00Z sein.',
  no_such_moment: '{field} ist kein gültiger Zeitpunkt.',
  not_after: '{field} muss nach {other} liegen.',
  too_many_steps: 'Von since bis until dürfen es höchstens {limit} Schritte sein.',
  too_small: '{field} muss mindestens {limit} sein.',
  too_large: '{field} darf höchstens {limit} sein.',
  empty: '{field} darf nicht leer sein.',
  too_long: '{field} darf höchstens {limit} Zeichen haben.',
  no_entries: '{field} muss mindestens einen Eintrag haben.',
  too_few_entries: '{field} muss mindestens {limit} Einträge haben.',
  too_many_entries: '{field} darf höchstens {limit} Einträge haben.',
  needed_with: 'Zusammen mit {other} muss auch {field} angegeben werden; null ist erlaubt.',
  only_with: '{field} wirkt nur zusammen mit {other}.',
  not_with: '{field} wirkt nicht zusammen mit {other}.',
  address_and_domain: 'address und domain schließen einander aus.',
} as const;
type RequestFault = keyof typeof REQUEST_FAULTS;

/** The `{type}` of `wrong_type`, by JSON type. */
export const TYPE_TEXTS: Readonly<Record<string, string>> = {
  integer: 'eine ganze Zahl',
  string: 'eine Zeichenkette',
  array: 'eine Liste',
  object: 'ein Objekt',
  boolean: 'true oder false',
  strings: 'eine Zeichenkette oder eine Liste von Zeichenketten',
  texts: 'eine Liste von Zeichenketten',
  objects: 'eine Liste von Objekten',
};

/** Separates the `{type}`s of a value that may have several, and rights of which one is enough. */
export const TYPE_SEPARATOR = ' oder ';

/** `message` of a send that was not recorded yet; not an error. */
export const PARTIAL_TEXT =
  'Die E-Mail wurde gesendet, konnte aber nicht in der Datenbank gespeichert werden. Sie wird nachgetragen, sobald das möglich ist.';

/** Why nothing is sent to an address, the `{detail}` of `recipient_suppressed`. */
export const SUPPRESSION_TEXTS = {
  repeated_soft_bounces: 'mehrere Zustellungen nacheinander sind gescheitert',
  hard_bounce: 'die Adresse nimmt keine E-Mails an',
  complaint: 'der Empfänger hat eine E-Mail als Spam gemeldet',
  manual: 'von Hand gesperrt',
} as const;

/** The faults of a webhook's address, the `{detail}` of `invalid_webhook_url`. */
export const WEBHOOK_URL_TEXTS = {
  not_a_url: 'Sie ist keine vollständige Web-Adresse.',
  scheme: 'Sie muss mit https:// beginnen.',
  without_tls: 'Sie muss mit https:// beginnen; http ist nur erlaubt, wo WEBHOOK_ALLOW es erlaubt.',
  credentials: 'Sie darf keine Zugangsdaten enthalten; dafür gibt es headers.',
  port: 'Sie nennt einen Port, an dem kein Webserver antwortet.',
} as const;

/** The `{hint}` of `unknown_field` and `unknown_parameter`, when a known name is close. */
export const closeNameText = (name: string): string => ` Vielleicht ist ${shorten(name)} gemeint.`;

/** A stable error code of the registry. */
export type ErrorCode = keyof typeof ERRORS;

export interface ServiceErrorOptions {
  /** Values for the `{x}` of the registry's text. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Shown to the caller beside `error`, as `details`: a mail server's reply, or the event after which to continue. */
  readonly details?: string;
  /** For a send that failed: the email that is recorded, or will be. With `mayHaveHappened`: what may have been made. */
  readonly emailId?: string;
  /**
   * Of `database_unavailable`: the connection was lost after the database may have been told to commit. Nothing of the
   * kind may be begun anew; the same may be repeated under the same id.
   */
  readonly mayHaveHappened?: boolean;
  /** When the same request may succeed; only for codes with the status 429. */
  readonly retryAfterSeconds?: number;
  /** Of `thread_has_moved_on`: the emails that the writer has not seen, in the order in which they were recorded. */
  readonly newEmails?: readonly NewEmail[];
  /** The internal reason, for the log. */
  readonly cause?: unknown;
}

/** A failure with a stable code. Throw it anywhere; the outermost edge turns it into a response or a log line. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** HTTP status of the registry. */
  readonly status: number;
  readonly temporary: boolean;
  /** The German text, values filled in. */
  readonly text: string;
  readonly details: string | undefined;
  readonly emailId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly newEmails: readonly NewEmail[] | undefined;
  readonly mayHaveHappened: boolean;

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    const entry: ErrorEntry = ERRORS[code];
    this.code = code;
    this.status = entry.status;
    this.temporary = entry.temporary;
    this.text = fillIn(entry.text, options.values);
    this.details = options.details;
    this.emailId = options.emailId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.newEmails = options.newEmails;
    this.mayHaveHappened = options.mayHaveHappened ?? false;
  }
}

/**
 * Names what the caller can look for: the same failure of `work`, with the id of what it may have made.
 *
 * @param isMade it exists, and `work` only reads it
 */
export async function naming<T>(id: string, work: Promise<T>, isMade = false): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isAway = isMade && error instanceof ServiceError && error.code === 'database_unavailable';
    if (!(error instanceof ServiceError && (error.mayHaveHappened || isAway))) throw error;
    throw new ServiceError(error.code, { cause: error.cause, emailId: id, mayHaveHappened: true });
  }
}

/** For a write that only prepares what a caller asks for: when its outcome is unknown, nothing of that has happened. */
export async function preparing<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof ServiceError && error.mayHaveHappened)) throw error;
    throw new ServiceError(error.code, { cause: error.cause });
  }
}

/** The error `invalid_request` with a fault; `values` fill the fault's text. */
export function invalidRequest(
  fault: RequestFault,
  values: ServiceErrorOptions['values'] = {},
  cause?: unknown,
): ServiceError {
  return new ServiceError('invalid_request', {
    values: { detail: fillIn(REQUEST_FAULTS[fault], values) },
    cause,
  });
}

function fillIn(text: string, values: ServiceErrorOptions['values'] = {}): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) =>
    // An empty text would leave a gap that says nothing.
    name === 'value' && values[name] === '' ? '""' : shorten(values[name] ?? ''),
  );
}

/** An error echoes a caller's value only this far, in characters. */
const MAX_ECHO = 200;

function shorten(value: string | number): string {
  const text = String(value).replace(/[\u0000-\u001f\u007f]/g, '�');
  return text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text;
}
