/**
 * Distinguishes a signature from text below a line of two hyphens, by what its lines consist of: names, telephone numbers,
 * addresses, companies. People put such a line between items, too (`Pos 1⏎-- ⏎Pos 2`), and add text below it. One line that asks,
 * counts, dates or orders something, or is of no kind that is known, makes all of it text. Patterns see at most
 * MAX_MARKER_CHARS characters.
 */
import { ADDRESS, MAX_MARKER_CHARS } from './reply-markers.ts';

/** Lines of a signature, empty ones not counted. */
const MAX_SIGNATURE_LINES = 15;

/** Lines of a signature that is a name and a postal address. */
const MAX_NAMED_LINES = 4;

/** Words of a line that is a name, a title or a company; and beside a number or an address. */
const MAX_LINE_WORDS = 10;

/**
 * True if the lines below a separator are a signature.
 *
 * @param isStandard the separator is `-- ` (RFC 3676 §4.3); `--` alone needs more than a name
 * @param sender the names and parts of the address of the message's author; null: unknown
 */
export function isSignature(lines: readonly string[], isStandard: boolean, sender: string | null): boolean {
  const filled = lines.map(undecorated).filter((line) => line !== '');
  if (filled.length > MAX_SIGNATURE_LINES) return false;
  const kinds = filled.map(kindOf);
  if (kinds.includes('text')) return false;
  const [first] = filled;
  if (first === undefined) return false;
  // A number or an address alone may be what was asked for, and so may another person's.
  const isTheirs = sender === null ? filled.some(hasName) : filled.some((line) => sharesName(line, sender));
  if (kinds.includes('contact')) return isTheirs;
  return kinds[0] === 'name' && filled.length <= MAX_NAMED_LINES && isNameOf(first, sender, isStandard);
}

/** True if the lines are what Mailman puts below each email of a list. */
export function isListFooter(lines: readonly string[]): boolean {
  const filled = lines.map(undecorated).filter((line) => line !== '');
  return (
    filled.length <= MAX_NAMED_LINES &&
    filled.some((line) => line.toLowerCase().endsWith(' mailing list')) &&
    filled.some((line) => /^https?:\/\/\S*$/i.test(line) && line.includes('/listinfo/'))
  );
}

function undecorated(line: string): string {
  return line.length > MAX_MARKER_CHARS
    ? line
    : line.replace(/[|•·]+/g, ' ').replace(/^[\s*_]+|(?<![\s*_])[\s*_]+$/g, '');
}

type Kind = 'text' | 'name' | 'place' | 'contact';

function kindOf(line: string): Kind {
  if (line.length > MAX_MARKER_CHARS) return 'text';
  if (NOTICE.test(line)) return 'contact';
  const linked = line.replace(ADDRESS, ' ').replace(LINK, ' ');
  if (TEXT.test(linked)) return 'text';
  if (CLOSING.test(line)) return 'contact';
  const numbered = linked.replace(LEGAL, ' ').replace(PHONE, ' ');
  const placed = numbered.replace(STREET, ' ').replace(TOWN, ' ');
  if (/\d/.test(placed)) return 'text';
  const words = placed.split(/[^\p{L}\p{M}'’.&@-]+/u).filter((word) => /\p{L}/u.test(word));
  if (words.length > MAX_LINE_WORDS) return 'text';
  const hasContact = numbered !== line;
  const small = words.filter((word) => /^\p{Ll}/u.test(word) && !SMALL.has(word.toLowerCase()));
  const isSmallName = words.length === 1 && /^\p{Ll}{2,20}$/u.test(line);
  if (!isSmallName && small.some((word) => !hasContact || !LABEL.test(word))) return 'text';
  if (hasContact || COMPANY.test(placed) || TITLE.test(placed)) return 'contact';
  return placed === numbered ? 'name' : 'place';
}

function hasName(line: string): boolean {
  const words = [ADDRESS, LINK, LEGAL, PHONE].reduce((rest, pattern) => rest.replace(pattern, ' '), line);
  return wordsOf(words).some((word) => word.length > 1 && !LABEL.test(word));
}

/** Of an unknown sender any name below `-- ` will do. */
function isNameOf(line: string, sender: string | null, isStandard: boolean): boolean {
  return sender === null ? isStandard : sharesName(line, sender);
}

/** True if both have a word in common. */
export function sharesName(text: string, names: string): boolean {
  const known = new Set(wordsOf(names));
  return wordsOf(text).some((word) => word.length > 2 && known.has(word));
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/[^\p{L}\p{M}]+/u);

const LINK =
  /\bhttps?:\/\/[^\s<>]{1,400}|\b(?:www\.)?(?:[a-z0-9-]{1,63}\.){1,3}(?:com|net|org|info|biz|io|eu|de|at|ch|fr|es|it|nl|be|lu|uk|ie|us|pt|pl|cz|dk|se|no|fi|test|example)\b(?![@.])(?:\/[^\s<>]{0,400})?/giu;

/** With a label, or in a form that other numbers do not have. */
const PHONE =
  /(?<!\p{L})(?:tel(?:efon|ephone|éfono|efono|efoon)?|tél(?:éphone)?|fon|phone|mobile?|mobil|móvil|cell(?:ulare)?|handy|portable|fax|telefax|direct|durchwahl|zentrale|office|büro|[TMFPDG])(?:\s?[.:/]{1,2}|\s)\s?[+(]?\d[\d\s()/.–-]{4,22}\d|(?<![\d\p{L}])(?:\+\d{1,3}|\(\+?\d{1,5}\)|0\d{1,5}\s?[/-]|0\d{1,5}(?=\s))[\d\s()/–.-]{4,20}\d|(?<!\d)\d{3}[.-]\d{3}[.-]\d{4}(?!\d)/giu;

const LEGAL =
  /(?<!\p{L})(?:HR ?[AB]|USt-?Id-?(?:Nr)?|UID|VAT(?: (?:ID|No))?|Steuer-?(?:nummer|nr)|SIRET|SIREN|RCS|CIF|NIF|P\.? ?IVA|Company (?:No|Number))[.:]{0,2}\s?(?:\p{L}{2,20}\s?)?[\d\s./-]{2,20}\d/giu;

const STREET =
  /\p{L}{0,40}(?:str\.|straße|strasse|weg|platz|allee|gasse|ring|damm|ufer|markt|chaussee)\s\d{1,4}\s?[a-z]?(?![\p{L}\d])|(?<!\d)\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|av\.|bd|boulevard|place|chemin|quai|allée|impasse)(?!\p{L})|(?<!\d)\d{1,5} (?:\p{L}{2,20} ){1,3}(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|way|blvd|square)(?!\p{L})|(?<!\p{L})(?:calle|c\/|via|viale|piazza|corso|largo|avenida|avda\.?|plaza|paseo) (?:\p{L}{1,20}\.?,? ){1,4}(?:n[.°º]? ?)?\d{1,4}(?!\d)/giu;

/** `50667 Köln`, `A-1010 Wien`, `SW1A 1AA`. */
const TOWN =
  /(?<![\d\p{L}])(?:\p{Lu}{1,3}[- ])?\d{4,5}(?: ?[A-Z]{2})?(?= \p{Lu})|(?<!\p{L})[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2}(?!\p{L})|(?<!\p{L})[A-Z]{2} \d{5}(?!\d)/gu;

const COMPANY =
  /(?<!\p{L})(?:g?GmbH|mbH|AG|KGa?A?|OHG|GbR|UG|e\.\s?K|e\.\s?V|SE|Inc|Ltd|LLC|LLP|PLC|Corp|SARL|SAS|S\.?A|S\.?L|S\.?r\.?l|S\.?p\.?A|B\.?V|Geschäftsführ(?:er|erin|ung)|Amtsgericht|Registergericht|Handelsregister|Vorstand|Aufsichtsrat|Sitz der Gesellschaft)\.?(?![\p{L}\d])/u;

const TITLE =
  /(?<!\p{L})(?:Director|Managers?|Engineer|Developer|Editor|Assistant|Consultant|Officer|President|CEO|CTO|CFO|COO|Sales|Marketing|Support|Customer Service|Vertrieb|Einkauf|Buchhaltung|Kundenservice|Kundendienst|Sekretariat|Disposition|Leiter(?:in)?|Assistent(?:in)?|Prokurist(?:in)?|Geschäftsleitung|Directeur|Directrice|Responsable|Comptabilité|Gerente|Directora?|Ventas|Compras|Direttore|Direttrice|Responsabile|Vendite|Acquisti)(?!\p{L})/u;

const CLOSING =
  /^(?:mit )?(?:(?:freundlich|best|viel|lieb|herzlich|schön)en? (?:grü(?:ß|ss)en?|gru(?:ß|ss))(?: \p{L}{2,20}){0,3}|gru(?:ß|ss)|grü(?:ß|ss)e|mfg|lg|vg|(?:best|kind|warm|many)(?: regards| wishes)?|regards|cheers|sincerely(?: yours)?|yours (?:sincerely|faithfully|truly)|(?:bien )?cordialement|bien à vous|salutations(?: distinguées)?|(?:un )?(?:cordial )?saludos?|atentamente|(?:cordiali|distinti) saluti|saluti)(?: ?\/ ?(?:best|kind) regards)?[,.!]?$/iu;

/** Notices that companies add: the message is confidential, do not print it. */
const NOTICE =
  /^(?=.{0,400}(?:e-?mail|nachricht|message|messaggio|mensaje|courriel|correo))(?=.{0,400}(?:vertraulich|confidential|confidentiel|confidencial|riservat|privileged|ausdrucken|printing|imprimer|imprimir|stampare)).{40,}$/iu;

/** Small words of names, companies and titles. */
const SMALL = new Set(
  'von vom van der den dem de di da do du la le les el los del della dei dos das zu zum zur und and et y e & für for of the im in am an bei i. a. v. i.a. i.v. ppa. e.v. mbh a.d. c/o des ventes achats client clients clientèle commercial commerciale comercial ventas compras vendite acquisti generale'.split(
    ' ',
  ),
);

const LABEL =
  /^(?:tel|tél|telefon|phone|mobile?|mobil|cell|fax|fon|e-?mail|mail|web|www|internet|site|homepage|blog|skype|twitter|linkedin|facebook|xing|instagram|github|signal|whatsapp|mastodon|office|direct|[a-z])\.?$/iu;

/** What no signature has: questions, introductions, items, dates, and words by which people order, ask, answer or announce. */
const TEXT = new RegExp(
  [
    '[?!]|[:：]$|^\\s*(?:[-–>]|\\d{1,3}[.)])\\s|(?:^|\\s)p\\.?\\s?s\\.?(?=[\\s:])',
    '(?<!\\d)\\d{1,2}[./-]\\s?\\d{1,2}[./-](?:\\s?\\d{2,4})?(?!\\d)|(?<!\\d)\\d{4}-\\d{2}-\\d{2}(?!\\d)|(?<!\\d)\\d{1,2}:\\d{2}(?!\\d)',
    `(?<!\\p{L})(?:${[
      'neue[mnrs]?|nouve(?:au|lle)s?|nuev[ao]s?|nuov[aei]|new(?! (?:york|delhi|jersey|zealand|orleans|england))|changed?|geändert\\p{L}*|statt|instead',
      'bestell\\p{L}*|auftr[aä]g\\p{L}*|orders?|commandes?|pedidos?|ordin[ei]|(?:ab)?rechnung(?!swesen)\\p{L}*|invoices?|factur\\p{L}*|fattur\\p{L}*',
      'artikel\\p{L}*|pos|position|menge|liefer\\p{L}*|deliver\\p{L}*|livraisons?|entrega|consegna|versand\\p{L}*|angebot\\p{L}*|offers?|offres?|ofertas?|offert[ae]|termin\\p{L}*',
      'iban|konto\\p{L}*|bic|passwor[dt]|kennwort|zählerstand|kundennummer|vertrag\\p{L}*',
      'montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonnabends?|sonntags?|monday|tuesday|wednesday|thursday|friday|saturday|sunday',
      'lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica',
      'heute|morgen|gestern|today|tomorrow|demain|mañana|domani|uhr|o’clock',
      'rückruf|anruf\\p{L}*|bitte|please|svp|por favor|per favore|nicht|not|keine?|ja|nein|yes|no|oui|non|sí|ok|okay',
      'storn\\p{L}*|cancel\\p{L}*|annul\\p{L}*|kündig\\p{L}*|widerruf\\p{L}*|zusage|absage|einverstanden|agreed|genehmigt|approved|erledigt|freigabe',
      'nachtrag|anlagen?|anhang|attached|anbei|beiliegend|siehe|see|voir|vedi',
    ].join('|')})(?!\\p{L})`,
  ].join('|'),
  'iu',
);
