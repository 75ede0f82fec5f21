/**
 * The marks of mail programs around quoted text, in the programs' languages. Collected from Outlook, Gmail, Apple Mail,
 * Thunderbird, GMX, Yahoo and mobile programs. Patterns see one line of at most MAX_MARKER_CHARS characters, or a few
 * joined ones, and none takes more than a few steps for each character.
 */

/** Longer lines are text. */
export const MAX_MARKER_CHARS = 500;

/** `-----Original Message-----`: everything below is quoted. */
export const ORIGINAL_MESSAGE =
  /^\s*[-_=]{2,}\s*(?:original (?:message|appointment)|reply message|ursprüngliche (?:nachricht|mail)|original-?nachricht|message d['’]origine|message (?:original|initial|d['’]origine)|(?:mail|courriel) original|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|origineel bericht|oprindelig meddelelse|original ?meddelande|ursprungligt meddelande|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|původní zpráva|исходное сообщение|oryginalna wiadomość|pôvodná správa|mesaj(?:ul)? original|izvorna poruka|αρχικό μήνυμα|оригинално съобщение|оригінальне повідомлення|원본 (?:메일|메시지)|eredeti üzenet|özgün ileti|邮件原件|原始邮件|元のメッセージ)\s*[-_=]{2,}\s*$/iu;

/** Everything from here on is forwarded by the sender, and is kept. */
export const FORWARDED =
  /^\s*(?:[-_=]{2,}\s*(?:forwarded (?:message|by)|weitergeleitete nachricht|message (?:transféré|réexpédié)|mensaje reenviado|mensagem encaminhada|messaggio inoltrato|doorgestuurd bericht|vidarebefordrat meddelande|videresendt melding|przekazana wiadomość|пересылаемое сообщение)\b.*|(?:begin forwarded message|anfang der weitergeleiteten (?:nachricht|e-mail)|début du (?:message transféré|message réexpédié)|inicio del mensaje reenviado|inizio messaggio inoltrato|begin doorgestuurd bericht)\s*:)\s*$/iu;

/** The verb of an attribution, `wrote`. */
export const WROTE =
  /(?:\b(?:wrote|writes|schrieb|geschrieben|a écrit|ecrit|escribió|escrigué|ha escrit|escreveu|ha scritto|schreef|geschreven|skrev|kirjoitti|kirjutas|napsal|napísal|napisao|napisala|napisal|ezt írta|a scris|rašė|rakstīja|menulis)(?:\(a\)|\/la|\(-a\))?|napisał(?:\(a\))?|написала?|пишет|пише|έγραψε|đã viết|şun(?:u|ları) yazdı|写道|寫道|のメール|님이 작성|כתב\/ה|כתב|كتب)/iu;

/** The beginning of an attribution: a word and a date in the languages of WROTE, or a date. Or a name, see EMAIL. */
export const ATTRIBUTION_START =
  /^(?:(?:on|am|le|el|il|em|en|op|den|på|w dniu|dnia|dňa|dne|von|at|ma|ti|ke|to|pe|la|su|în|στις|vào)(?![\p{L}\p{N}]).*\d|\d{1,4}[-/.年년])/iu;

/** A date at the beginning, perhaps after the day of the week, in any language. */
export const DATE_FIRST =
  /^(?:\p{L}{2,15}\.?,? )?(?:\d{1,2}\.? (?:de )?\p{L}{2,14}\.?,? (?:de )?\d{4}|\p{L}{3,14}\.? \d{1,2},? \d{4}|\d{4}年|\d{4}년)/iu;

/** Words between an address and the verb that belong to the verb; dates may be there as well. */
export const VERB_FILLER =
  /^(?:het|volgende|heeft|folgendes|hat|je|a|ha|va|has|tarihinde|님이|于|於|odesílatel|ο|χρήστης)$/iu;

/** Words by which people report their own writing, which are not an attribution. */
export const OWN_WRITING =
  /\b(?:(?:i|we|you|ich|wir|sie|du|ihr) (?:wrote|schrieb\w*)|schrieb\w* (?:ich|wir|sie|du|ihr)\b)/iu;

/** An address within an attribution. */
export const EMAIL = /[^\s<>@]@[^\s<>@]/;

/** A time within an attribution, and a year. */
export const TIME = /\d[:.h]\d{2}/u;
export const YEAR = /(?<!\d)(?:19|20)\d{2}(?!\d)/u;

/** A year, or a day and a month. */
export const DATE = /(?<!\d)(?:19|20)\d{2}(?!\d)|(?<!\d)\d{1,2}[./-] ?\d{1,2}[./-]/u;

/** Text, then an attribution on the same line: `Thanks--- On Mon, …`. Input: at most 500 characters, MAX_MARKER_CHARS. */
export const INLINE_ATTRIBUTION = /-{2,}\s*(?=\p{L}{1,8} .*\d)/gu;

/** Direction marks that Gmail puts around names in Hebrew and Arabic. */
export const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** `2026-05-03 10:00 GMT+02:00 Max Muster <max@example.com>:`, as Gmail writes it in several languages. */
export const DATED = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}),? /u;

/** A rule above a quote: Outlook's, or a rendered `<hr>`. */
export const RULE = /^\s*(?:_{5,}|-{5,}|={5,}|—{3,}|─{3,})\s*$/u;

const label = (names: string): RegExp =>
  // Input: at most 500 characters, MAX_MARKER_CHARS.
  new RegExp(`^\\s*[*_]{0,2}(?:${names})\\s?[*_]{0,2}\\s?[:：][*_]{0,2}(?:\\s|$)`, 'iu');

/** The four fields of the header block that Outlook and others put above a quote. */
export const BLOCK_FROM = label(
  'From|Von|De|Da|Van|Fra|Från|Od|Lähettäjä|От|От кого|Feladó|Kimden|发件人|寄件者|差出人|보낸 사람',
);
export const BLOCK_REST: readonly RegExp[] = [
  label(
    'Sent|Date|Gesendet(?: am)?|Verstuurd|Dátum|Odoslané|Trimis|Poslano|Надіслано|Изпратено|Datum|Envoyé(?: le)?|Enviado(?: el| em)?|Enviada em|Fecha|Data|Inviato|Verzonden|Sendt|Dato|Skickat|Wysłano|Odesláno|Lähetetty|Päivämäärä|Отправлено|Дата|Küldve|Gönderilme|Gönderme Tarihi|Tarih|发送时间|日期|送信日時|日時|보낸 날짜',
  ),
  label('To|An|À|Para|A|Aan|Til|Till|Do|Komu|Vastaanottaja|Кому|Címzett|Kime|收件人|宛先|받는 사람'),
  label(
    'Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Emne|Ämne|Temat|Předmět|Aihe|Тема|Tárgy|Konu|主题|主旨|件名|제목',
  ),
];

/** Lines that programs put below a text. */
export const PROGRAM_SIGNATURE =
  /^\s*(?:sent (?:from (?:my |mail for |yahoo mail|outlook|samsung |the all new )|with proton ?mail)|get outlook for |von meinem .{2,40} gesendet|gesendet (?:von|mit|mit der) |diese nachricht wurde von meinem .{2,60} gesendet|envoyé de(?:puis)? mon |enviado desde mi |enviado do meu |inviato da(?:l mio)? |verzonden vanaf mijn |skickat från min |sendt fra min |wysłane z |отправлено с ).{0,100}$/iu;
