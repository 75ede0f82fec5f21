/**
 * The header block that Outlook and others put above a quote: From, Sent, To, Subject. Its labels are those of one language,
 * as programs write them, and its values are read: people write `Von: Bremen` and `An: Hamburg`, too.
 */
import { EMAIL, FORWARDED, MAX_MARKER_CHARS } from './reply-markers.ts';

type Field = 'from' | 'sent' | 'date' | 'to' | 'cc' | 'subject';

/**
 * Labels as programs write them, letter case included: `sent` is Outlook's and Yahoo's word for the date. Collected from
 * Outlook, Apple Mail, Gmail, Thunderbird, Yahoo, GMX, HubSpot, Zimbra and QQ.
 */
const LABELS: readonly Readonly<Record<Field, string>>[] = [
  { from: 'From', sent: 'Sent', date: 'Date', to: 'To', cc: 'Cc|CC|Reply-To', subject: 'Subject' },
  {
    from: 'Von',
    sent: 'Gesendet|Gesendet am',
    date: 'Datum|Date',
    to: 'An',
    cc: 'Cc|CC|Kopie|Kopie (CC)|Antwort an',
    subject: 'Betreff',
  },
  {
    from: 'De',
    sent: 'Envoyé|Envoyé le|Message du',
    date: 'Date',
    to: 'À|A|Pour',
    cc: 'Cc|CC|Copie à|Répondre à',
    subject: 'Objet|Sujet',
  },
  {
    from: 'De',
    sent: 'Enviado|Enviado el',
    date: 'Fecha',
    to: 'Para|A',
    cc: 'Cc|CC|Responder a',
    subject: 'Asunto',
  },
  {
    from: 'De',
    sent: 'Enviado|Enviado em|Enviada em',
    date: 'Data',
    to: 'Para',
    cc: 'Cc|CC|Responder A|Responder a',
    subject: 'Assunto',
  },
  {
    from: 'Da|Mittente',
    sent: 'Inviato',
    date: 'Data',
    to: 'A|Per',
    cc: 'Cc|CC|Rispondi a|Risposta',
    subject: 'Oggetto',
  },
  {
    from: 'Van',
    sent: 'Verzonden|Verstuurd',
    date: 'Datum',
    to: 'Aan',
    cc: 'Cc|CC|Kopie|Antwoord aan',
    subject: 'Onderwerp',
  },
  { from: 'Fra', sent: 'Sendt', date: 'Dato', to: 'Til', cc: 'Cc|CC|Kopi|Svar til', subject: 'Emne' },
  {
    from: 'Från',
    sent: 'Skickat',
    date: 'Datum',
    to: 'Till',
    cc: 'Cc|CC|Kopia|Svara till',
    subject: 'Ämne',
  },
  {
    from: 'Lähettäjä',
    sent: 'Lähetetty',
    date: 'Päivämäärä|Päiväys',
    to: 'Vastaanottaja',
    cc: 'Cc|CC|Kopio|Vastaus',
    subject: 'Aihe',
  },
  {
    from: 'Od|Nadawca',
    sent: 'Wysłano',
    date: 'Data',
    to: 'Do|Adresat',
    cc: 'Cc|CC|DW|Dw|Kopia',
    subject: 'Temat',
  },
  { from: 'Od', sent: 'Odesláno', date: 'Datum', to: 'Komu', cc: 'Cc|CC|Kopie', subject: 'Předmět' },
  { from: 'Od', sent: 'Odoslané', date: 'Dátum', to: 'Komu|Pre', cc: 'Cc|CC|Kópia', subject: 'Predmet' },
  {
    from: 'Od|Šalje',
    sent: 'Poslano',
    date: 'Datum',
    to: 'Za|Prima|Kome',
    cc: 'Cc|CC|Kopija',
    subject: 'Predmet|Naslov|Zadeva',
  },
  {
    from: 'Feladó',
    sent: 'Küldve|Elküldve',
    date: 'Dátum',
    to: 'Címzett',
    cc: 'Cc|CC|Másolat|Másolatot kap',
    subject: 'Tárgy',
  },
  {
    from: 'De la|Expeditorul',
    sent: 'Trimis',
    date: 'Dată|Data',
    to: 'Către|Destinatarul',
    cc: 'Cc|CC',
    subject: 'Subiect|Subiectul',
  },
  {
    from: 'Kimden|Gönderen',
    sent: 'Gönderilme|Gönderilen|Gönderme Tarihi|Gönderildi',
    date: 'Tarih',
    to: 'Kime|Alıcı',
    cc: 'Cc|CC|Bilgi',
    subject: 'Konu',
  },
  {
    from: 'От|От кого|Отправитель',
    sent: 'Отправлено',
    date: 'Дата',
    to: 'Кому',
    cc: 'Cc|CC|Копия',
    subject: 'Тема',
  },
  {
    from: 'Від|Від кого',
    sent: 'Надіслано|Відправлено',
    date: 'Дата',
    to: 'Кому',
    cc: 'Cc|CC|Копія',
    subject: 'Тема',
  },
  { from: 'От', sent: 'Изпратено', date: 'Дата', to: 'До', cc: 'Cc|CC|Копие', subject: 'Тема|Относно' },
  {
    from: 'Από',
    sent: 'Στάλθηκε|Απεσταλμένο',
    date: 'Ημερομηνία',
    to: 'Προς',
    cc: 'Cc|CC|Κοιν.',
    subject: 'Θέμα',
  },
  {
    from: '发件人',
    sent: '发送时间|发送日期',
    date: '日期',
    to: '收件人',
    cc: '抄送|抄送人',
    subject: '主题',
  },
  { from: '寄件者', sent: '寄件日期', date: '日期', to: '收件者', cc: '副本', subject: '主旨' },
  {
    from: '差出人|送信元',
    sent: '送信日時',
    date: '日時|日付',
    to: '宛先|送信先',
    cc: 'CC|Cc',
    subject: '件名',
  },
  { from: '보낸 사람', sent: '보낸 날짜', date: '날짜', to: '받는 사람', cc: '참조', subject: '제목' },
];

/** A label with the languages that have it, as bits. */
const FIELDS = new Map<string, Map<Field, number>>();
LABELS.forEach((language, index) => {
  for (const [field, names] of Object.entries(language) as [Field, string][]) {
    for (const name of names.split('|')) {
      const known = FIELDS.get(name) ?? new Map<Field, number>();
      FIELDS.set(name, known.set(field, (known.get(field) ?? 0) | (1 << index)));
    }
  }
});

/** Lines that the block may take, empty ones counted. */
const MAX_BLOCK_LINES = 16;

/** Lines over which one value may be wrapped. */
const MAX_WRAPPED_LINES = 4;

/** `*From:* value`, `De : value`. Input: at most 500 characters, MAX_MARKER_CHARS. */
const LABELLED = /^\s*[*_]{0,2}(\p{L}[\p{L}()\-. ]{0,24}?)\s?[*_]{0,2}\s?[:：]\s?[*_]{0,2}(.*)$/u;

/** A date and a time: `Montag, 2. März 2026 09:15`, `2026年3月2日 9:15`. */
const YEAR = /(?<!\d)(?:19|20)\d{2}(?!\d)/u;
const TIME = /(?<![\d.])\d{1,2}[:.]\d{2}(?![\d.])|\d{1,2}[hH时時点]\s?\d{2}/u;

/** Lines of a text in which blocks are looked for, and blocks that are read. Ours: a forward begins near the top. */
const MAX_SEARCHED_LINES = 2000;
const MAX_BLOCKS = 5;

/** Lines below the mark of a forward in which its author is looked for, empty ones counted. */
const MAX_LINES_BELOW_MARK = 8;

/**
 * The values of From in the header blocks of a text that name an address, the first one first. Apple Mail puts `>` before a block. Below its
 * mark of a forward, Gmail has From in the reader's language, and English labels.
 */
export function sendersOfBlocks(text: string): readonly string[] {
  const lines = text.split('\n', MAX_SEARCHED_LINES).map((line) => line.replace(/^ ?> ?/, ''));
  const senders: string[] = [];
  for (let at = 0; at < lines.length && senders.length < MAX_BLOCKS; at++) {
    const marked = isForwardMark(lines[at]) ? fromBelowMark(lines, at) : -1;
    if (marked !== -1) at = marked;
    const isAuthor = marked !== -1 || startsHeaderBlock(lines, at, false);
    const from = isAuthor ? readBlock(lines, at)?.get('from') : undefined;
    if (from !== undefined && EMAIL.test(from)) senders.push(from.replace(/[*_]{1,2}$/, '').trim());
  }
  return senders;
}

const isForwardMark = (line = ''): boolean => line.length <= MAX_MARKER_CHARS && FORWARDED.test(line);

/** The line with the author of what is forwarded; -1: none. */
function fromBelowMark(lines: readonly string[], mark: number): number {
  for (let at = mark + 1; at <= mark + MAX_LINES_BELOW_MARK; at++) {
    if (labelOf(lines[at])?.fields.has('from') === true) return at;
  }
  return -1;
}

/**
 * True if a header block begins on this line that proves a quote: with an address, a full date and a subject; or Outlook's own
 * form, which has names in place of addresses within a company, in a reply.
 */
export function startsHeaderBlock(lines: readonly string[], at: number, isReply: boolean): boolean {
  if (!provesQuote(lines, at, isReply)) return false;
  // Labels of a text right above a block are not part of it.
  const block = Array.from({ length: MAX_BLOCK_LINES - 1 }, (_, index) => at + 1 + index);
  return !block.some((later) => provesQuote(lines, later, isReply));
}

function provesQuote(lines: readonly string[], at: number, isReply: boolean): boolean {
  const fields = readBlock(lines, at);
  return fields !== null && isProof(fields, isReply);
}

/** The fields of the block that begins on this line; null when none does. */
function readBlock(lines: readonly string[], at: number): ReadonlyMap<Field, string> | null {
  if (labelOf(lines[at]) === null) return null;
  const fields = new Map<Field, string>();
  let languages = -1;
  let last: Field | null = null;
  let wrapped = 0;
  for (const line of lines.slice(at, at + MAX_BLOCK_LINES)) {
    const found = labelOf(line);
    const known = found === null ? [] : [...found.fields].filter(([, bits]) => (bits & languages) !== 0);
    const [field, bits] = known.find(([name]) => !fields.has(name)) ?? [];
    if (found !== null && field !== undefined && bits !== undefined) {
      languages &= bits;
      fields.set(field, found.value);
      last = field;
      wrapped = 0;
    } else if (known.length > 0) {
      break;
    } else if (line.trim() !== '' && last !== null) {
      // A long list of addresses goes on on the next line.
      const goesOn = (last === 'from' || last === 'to' || last === 'cc') && /[@<>;]/.test(line);
      const isLong = last === 'subject' && wrapped === 0;
      wrapped++;
      if ((!goesOn && !isLong) || wrapped > MAX_WRAPPED_LINES) break;
      if (goesOn) fields.set(last, `${fields.get(last) ?? ''} ${line}`);
    }
  }
  return fields;
}

function isProof(fields: ReadonlyMap<Field, string>, isReply: boolean): boolean {
  const from = fields.get('from');
  const sent = fields.get('sent');
  const date = sent ?? fields.get('date') ?? '';
  if (from === undefined || !fields.has('subject')) return false;
  const hasAddress = EMAIL.test(from) || (fields.has('to') && EMAIL.test(fields.get('to') ?? ''));
  if (hasAddress) return TIME.test(date) || (YEAR.test(date) && fields.has('to'));
  // Outlook writes the day of the week or the month as a word.
  const isWritten = /\p{L}{3}|年|년/u.test(date);
  const order = [...fields.keys()].filter((field) => field !== 'cc').join(' ');
  return (
    isReply && isWritten && YEAR.test(date) && TIME.test(date) && /^from sent(?: to)? subject$/.test(order)
  );
}

function labelOf(
  line: string | undefined,
): { readonly fields: ReadonlyMap<Field, number>; readonly value: string } | null {
  if (line === undefined || line.length > MAX_MARKER_CHARS) return null;
  const [, name, value] = LABELLED.exec(line) ?? [];
  const fields = name === undefined ? undefined : FIELDS.get(name.trim());
  return fields === undefined || value === undefined ? null : { fields, value };
}
