/**
 * The marks of mail programs around quoted text, in the programs' languages. Collected from Outlook, Gmail, Apple Mail,
 * Thunderbird, GMX, Yahoo and mobile programs. Patterns see one line of at most MAX_MARKER_CHARS characters, or a few
 * joined ones, and none takes more than a few steps for each character.
 */

/** Longer lines are text. */
export const MAX_MARKER_CHARS = 500;

/** The words of a mark such as `-----Original Message-----`, in the programs' languages. */
const ORIGINAL_WORDS = [
  'original (?:message|appointment|mail|e-mail|email)|reply message',
  'ursprüngliche (?:nachricht|mail|e-mail)|original-?nachricht|originalnachricht|antwort nachricht',
  "message (?:original|initial|d['’]origine)|(?:mail|courriel) original|mensaje original|mensagem original",
  'messaggio originale|oorspronkelijk bericht|origineel bericht|oprindelig (?:meddelelse|besked)|original ?meddelande',
  'ursprungligt meddelande|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|oryginalna wiadomość',
  'původní zpráva|pôvodná správa|mesaj(?:ul)? original|izvorna poruka|izvorno sporočilo|αρχικό μήνυμα|оригинално съобщение',
  'исходное сообщение|оригінальне повідомлення|eredeti üzenet|özgün ileti|orijinal mesaj',
  '원본 (?:메일|메시지)|원본메일|邮件原件|原始邮件|回复的原邮件|回复的邮件|原邮件|原始郵件|回覆的原郵件|元のメッセージ',
].join('|');

/** The words of a mark such as `---------- Forwarded message ---------`. */
const FORWARDED_WORDS = [
  'forwarded (?:message|mail|email|e-mail|by)|fwd\\.? ?(?:message|msg)|weitergeleitete (?:nachricht|mail|e-mail)',
  'message (?:transféré|réexpédié|transmis)|courriel transféré|mensaje reenviado|missatge reenviat',
  'mensagem (?:encaminhada|reencaminhada)|messaggio inoltrato|doorgestuurd bericht|vidarebefordrat (?:meddelande|mejl)',
  'videresendt (?:melding|meddelelse|besked|e-post)|edelleenlähetetty viesti|välitetty viesti|przekazana wiadomość',
  'treść przekazanej wiadomości|wiadomość przesłana dalej|přeposlaná zpráva|preposlaná správa|továbbított (?:üzenet|levél)',
  'mesaj redirecționat|mesaj redirecţionat|proslijeđena poruka|prosleđena poruka|posredovano sporočilo|edasi saadetud kiri',
  'pārsūtīta ziņa|persiųstas laiškas|προωθημένο μήνυμα|препратено съобщение|пересылаемое сообщение',
  'пересланное сообщение|перенаправленное сообщение|переслане повідомлення|перенаправлене повідомлення',
  '[iİ]leti(?:lmiş|len) (?:mesaj|[iİ]leti)|転送(?:された)?(?:メッセージ|メール)|メッセージを転送|转发的(?:原邮件|邮件|消息)|转发邮件信息|轉寄(?:的)?郵件',
  '轉寄的訊息|전달된 (?:메시지|메일)|הודעה שהועברה|الرسالة المعاد توجيهها|رسالة معاد توجيهها',
].join('|');

/** `Begin forwarded message:`, as Apple Mail and MailMate write it. */
const FORWARDED_STARTS = [
  'begin forwarded message|forwarded message|anfang der weitergeleiteten (?:nachricht|e-mail)',
  'début du (?:message transféré|message réexpédié|courriel transféré)|inicio del mensaje reenviado|inici del missatge reenviat',
  'inizio (?:del )?messaggio inoltrato|begin doorgestuurd bericht|start på videresendt (?:besked|melding|e-post)',
  'videresendt (?:melding|besked)|vidarebefordrat (?:mejl|brev|meddelande)|välitetty viesti alkaa',
  'początek przekazywanej wiadomości|začátek přeposílané zprávy|začiatok preposlanej správy|továbbított levél kezdete',
  'începe mesajul redirecționat|započni proslijeđenu poruku|início da mensagem (?:encaminhada|reencaminhada)',
  'начало (?:переадресованного|пересланного) сообщения|початок листа, що пересилається|(?:[iİ]letilen )?[iİ]leti başlangıcı',
  'αρχή προωθημένου μηνύματος|転送されたメッセージ|下面是被转发的邮件|以下是轉寄的郵件|전달된 메시지',
].join('|');

const BLANK = '(?:\\s|&nbsp;)';

/** `-----Original Message-----`: everything below is quoted. Input: at most 500 characters, MAX_MARKER_CHARS. */
export const ORIGINAL_MESSAGE = new RegExp(
  `^\\s*[*]?[-_=]{2,}${BLANK}*(?:${ORIGINAL_WORDS}|(?<=-{8}${BLANK}*)original)${BLANK}*[-_=]{2,}[*]?\\s*$`,
  'iu',
);

/**
 * Everything from here on is forwarded by the sender, and is kept. IONOS and others put `>` before the mark, too. Input: at
 * most 500 characters, MAX_MARKER_CHARS.
 */
export const FORWARDED = new RegExp(
  `^(?:\\s*>)?\\s*[*]?(?:[-_=]{2,}${BLANK}*(?:${FORWARDED_WORDS})(?![\\p{L}\\p{N}]).*|(?:${FORWARDED_STARTS})\\s?[:：])[*]?\\s*$`,
  'iu',
);

/** The verb of an attribution, `wrote`. */
export const WROTE =
  /(?:\b(?:wrote|writes|sent(?=\s?:\s*$)|schrieb|geschrieben|a écrit|ecrit|escribió|escrigué|ha escrit|escreveu|ha scritto|schreef|geschreven|skrev|kirjoitti|kirjutas|napsal|napísal|napisao|napisala|napisal|ezt írta|a scris|rašė|rakstīja|menulis)(?:\(a\)|\/la|\(-a\))?|napisał(?:\(a\))?|написала?|(?<!\p{L})írta|пишет|пише|έγραψε|đã viết|şun(?:u|ları) yazdı|写道|寫道|のメール|님이 작성|כתב\/ה|כתב|كتب)/giu;

/** The beginning of an attribution: a word and a date in the languages of WROTE, or a date. */
export const ATTRIBUTION_START =
  /^(?:(?:on|am|le|el|il|em|en|op|den|på|w dniu|dnia|dňa|dne|von|in data|at|ma|ti|ke|to|pe|la|su|în|στις|vào)(?![\p{L}\p{N}]).*\d|\d{1,4}[-/.年년]|\d{1,2}:\d{2})/iu;

/** A date at the beginning, perhaps after the day of the week, in any language. */
export const DATE_FIRST =
  /^(?:\p{L}{2,15}\.?,? )?(?:\d{1,2}\. ?\d{1,2}\. ?\d{4}|\d{1,2}\.? (?:de )?\p{L}{2,14}\.?,? (?:de )?\d{4}|\p{L}{3,14}\.? \d{1,2},? \d{4}|\d{4}年|\d{4}년)/iu;

/** Words by which people report their own writing, which are not an attribution. */
export const OWN_WRITING = /\b(?:(?:i|we|ich|wir) (?:wrote|schrieb\w*)|schrieb\w* (?:ich|wir)\b)/iu;

/** Some programs write `You wrote:` or `… sent:`; only a quote below proves it. */
export const YOUR_WRITING =
  /\bsent\s?:\s*$|\b(?:(?:you|sie|du|ihr) (?:wrote|schrieb\w*)|schrieb\w* (?:sie|du|ihr)\b)/iu;

/** An address within an attribution. */
export const EMAIL = /[^\s<>@]@[^\s<>@]/;

/** Input: at most 500 characters, MAX_MARKER_CHARS. */
export const ADDRESS = /[^\s<>@()[\]"]{1,64}@[^\s<>@()[\],:"]{1,255}/gu;

/**
 * Where an attribution may begin within a line, behind text: `Thanks--- On Mon, …`, `reply On Wed, Apr 4, …`. Input: at most
 * 500 characters, MAX_MARKER_CHARS.
 */
export const INLINE_ATTRIBUTION =
  /(?<=[\s.!?)-])(?:on|am|le|el|il giorno|em|en|op|den|på|w dniu|dnia|dne|în)(?=\s(?:\p{L}{1,12}[.,]{0,2}\s){0,2}\d)/giu;

/** Direction marks that Gmail puts around names in Hebrew and Arabic. */
export const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A rule above a quote: Outlook's, or a rendered `<hr>`. */
export const RULE = /^\s*(?:_{5,}|-{5,}|={5,}|—{3,}|─{3,})\s*$/u;
