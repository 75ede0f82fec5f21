/**
 * Recognises by the beginning of its subject a message that repeats another one's subject: answers of programs, receipts
 * and answers to invitations, in the languages of common programs. The text after such a beginning is the other message's
 * subject, and says nothing about this one.
 */
import { readBaseSubject } from '../message/base-subject.ts';

/**
 * - `auto_reply`: a program answers.
 * - `receipt`: read, received or accepted, by a person or a program.
 * - `reply`, `forward`: the prefixes of base-subject.ts.
 */
export type AnswerKind = 'auto_reply' | 'receipt' | 'reply' | 'forward';

/** null when the subject is the message's own. */
export function answerKindOf(subject: string): AnswerKind | null {
  const start = withoutTags(subject).slice(0, MAX_START_CHARS);
  if (AUTO_REPLY.test(start) || CJK_AUTO_REPLY.test(start)) return 'auto_reply';
  if (RECEIPT.test(start)) return 'receipt';
  const { isReply, isForward } = readBaseSubject(subject);
  if (isReply) return 'reply';
  return isForward ? 'forward' : null;
}

/**
 * The base subject (base-subject.ts) after the words of an automatic answer, such as that of `Automatic reply: Re: Order 12`; null when
 * the subject does not begin with such words, or ends with them.
 */
export function repeatedSubject(subject: string): string | null {
  const own = withoutTags(subject);
  const start = own.slice(0, MAX_START_CHARS);
  const words = (AUTO_REPLY.exec(start) ?? CJK_AUTO_REPLY.exec(start))?.[0];
  if (words === undefined || ORDINARY.test(words)) return null;
  const { base } = readBaseSubject(own.slice(words.length).replace(/^[\s:：)\]–—-]+/, ''));
  return base === '' ? null : base;
}

/** Words that people write before a subject of ours as well: `Urlaub: Mallorca 2027`, `Auto: Golf VII`. */
const ORDINARY =
  /^(?:auto|urlaub|abwesend|abwesenheit|vacation|away|absen(?:t|te|ce)|ausente|ausencia|assente|assenza|afwezig(?:heid)?|frånvaro|fravær|nieobecność|odsutnost|\(?ooo\)?|on (?:vacation|holiday))$/iu;

/** Without the tags of lists at the beginning. */
const withoutTags = (subject: string): string =>
  subject.slice(0, 2 * MAX_START_CHARS).replace(/^(?:\s*\[[^[\]]*\])*\s*/, '');

/** The longest known beginning is shorter, including tags of lists before it. */
const MAX_START_CHARS = 300;

/** Subjects of answers by programs that reveal themselves nowhere else. Seen in practice. */
const AUTO_REPLY = startsWith(
  // English
  String.raw`(?:auto(?:matic(?:ally generated)?|mated)?|autom\.?)[ -]?(?:e-?mail[ -])?(?:re(?:ply|sponse|sponder|spons|spond)|answer)|auto(?:reply|response|responder)|auto(?=\s*:)|out[ -]of[ -](?:the[ -])?office|\(?ooo\)?(?=\s*[:(-]|$)|(?:i am|i'm) (?:currently )?(?:away|out of|on (?:vacation|leave|holiday))|on (?:annual leave|vacation|holiday)|away from (?:the |my )?(?:office|mail|desk)|vacation (?:reply|message|notice|response)|(?:vacation|away|absen(?:t|te|ce)|ausente|ausencia|assente|assenza|urlaub)(?=\s*:)|absence (?:notice|notification)`,
  // German, Dutch, Danish, Norwegian, Swedish, Finnish
  String.raw`auto(?:matische|m\.) ?-?(?:e-?mail-?)?(?:antwort|rückantwort|rückmeldung|antwortmail)|autoantwort|abwesenheits(?:notiz|meldung|assistent|agent|nachricht|info|hinweis|benachrichtigung)|abwesenheit(?=\s*(?:[:,(–-]|$|vom|bis|im))|abwesend|nicht im (?:büro|haus)|außer haus|urlaubs(?:notiz|meldung|benachrichtigung)|ich bin (?:derzeit |zurzeit |zur zeit )?(?:nicht (?:im|am)|im urlaub|abwesend)`,
  String.raw`automatisch (?:antwoord|bericht)|afwezig(?:heid(?:sbericht|sassistent|smelding)?)?|niet aanwezig|buiten kantoor|automatis[kt]+ sv[ae]r|automatiskt svarsmeddelande|autosv[ae]r|autom\. sv[ae]r|frånvaro(?:meddelande)?|frånvarande|fravær(?:smelding|sbesked)?|fraværende|ikke til stede|ikke på kontoret|inte på kontoret|automaattinen vastaus|automaattivastaus|poissaolo(?:ilmoitus|viesti)?|poissa toimistosta`,
  // French, Spanish, Catalan, Portuguese, Italian, Romanian
  String.raw`réponse automatique|reponse automatique|message (?:automatique|d'absence)|(?:avis|notification) d'absence|absence? du bureau|absent(?:e)? du bureau|en dehors du bureau|respuesta autom[aá]tica|contestaci[oó]n autom[aá]tica|fuera de (?:la )?oficina|ausente de la oficina|aviso de ausencia|resposta autom[àaá]tica|fora d(?:o|e) escrit[oó]rio|ausência d[oe] escrit[oó]rio|aus[êe]ncia tempor[áa]ria|risposta automatica|risponditore automatico|fuori (?:sede|ufficio)|assente dall'ufficio|messaggio di assenza|r[ăa]spuns automat`,
  // Polish, Czech, Slovak, Hungarian, Croatian, Serbian, Slovene
  String.raw`odpowied[źz] automatyczna|automatyczna odpowied[źz]|autoodpowied[źz]|autoresponder|poza biurem|nieobecność|automatick[áa] odpov[eě][dď]|mimo kancel[áa][řr]|nep[řr][ií]tomnost|automatikus v[áa]lasz|h[áa]zon k[íi]v[üu]l|t[áa]voll[ée]t|automatski odgovor|samodejni odgovor|odsutnost|izvan ureda`,
  // Russian, Ukrainian, Bulgarian, Greek, Turkish
  String.raw`автоответ(?:чик)?|автоматическ(?:ий|и) отв(?:ет|ор)|автоматичен отговор|нет на (?:месте|работе)|вне офиса|в отпуске|автоматична відповідь|автовідповідь|автовідповідач|αυτόματη απάντηση|εκτός γραφείου|otomatik (?:yanıt|cevap)|ofis dışında`,
  // Hebrew, Arabic, Indonesian, Vietnamese
  String.raw`תשובה אוטומטית|מענה אוטומטי|תגובה אוטומטית|(?:ال)?رد (?:ال)?تلقائي|balasan otomatis|jawaban otomatis|trả lời tự động`,
);

/** Chinese, Japanese and Korean do not separate words. */
const CJK_AUTO_REPLY =
  /^(?:【[^】]{0,40}】)?(?:自動(?:応答|返信|回覆|回復|答覆)|不在(?:通知|の|にして)|自动(?:回复|答复|回覆)|休假(?:通知|自动)|자동 ?(?:회신|응답|답장)|부재 ?중)/u;

/** Beginnings of receipts and of answers to invitations, by persons and programs. Seen in practice. */
const RECEIPT = startsWith(
  String.raw`(?:read|not read|received?|receipt|accepted|declined|tentative|canceled|cancelled|updated invitation|invitation|processed|recall)(?=\s*:)|read(?:ing)? receipt|return receipt|message recall|disposition notification`,
  String.raw`(?:gelesen|ungelesen|nicht gelesen|empfangen|angenommen|zugesagt|abgelehnt|abgesagt|mit vorbehalt|einladung)(?=\s*:)|(?:lese|empfangs|eingangs|annahme)bestätigung|lesebestaetigung|bestätigung(?: des eingangs| ihrer)`,
  String.raw`(?:lu|non lu|accepté|refusé|provisoire|leído|leido|no leído|aceptado|rechazado|lida|lido|não lida|aceite|aceito|recusado|letto|non letto|accettato|rifiutato|gelezen|niet gelezen|geaccepteerd|geweigerd|läst|oläst|accepterat|læst|ulæst|lest|ulest|luettu|przeczytane|odczytano|přečteno|prečítané|olvasott|citit|прочитано|прочетено|прочитане|διαβάστηκε|okundu|開封済み|已读|已讀|읽음)(?=\s*[:：])|accusé de (?:réception|lecture)|confirmation de lecture|acuse de recibo|confirmaci[oó]n de lectura|confirma[çc][ãa]o de (?:leitura|recebimento|recep[çc][ãa]o)|conferma di (?:lettura|ricezione)|ricevuta di (?:ritorno|lettura|consegna)|leesbevestiging|ontvangstbevestiging|potwierdzenie (?:odczytu|przeczytania|odbioru)`,
  // Italian certified mail (PEC)
  String.raw`(?:accettazione|consegna|posta certificata)(?=\s*:)`,
);

/** Any of the alternatives at the beginning, not within a longer word. */
function startsWith(...alternatives: readonly string[]): RegExp {
  // Input: at most 300 characters, MAX_START_CHARS.
  return new RegExp(`^(?:${alternatives.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}
