/**
 * The text of the search field as filters of the service: words and phrases, and operators such as `from:ann`, in English or German. A
 * value that an operator can't use is reported and left out; all other text becomes words.
 */
import { toTerm, type Term } from './search-terms.ts';

/** Filters of the thread list, named as in the API. */
export interface SearchFilter {
  readonly q?: string;
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly customer_id?: string;
  readonly unread?: boolean;
  readonly unanswered?: boolean;
  readonly status?: 'open' | 'done' | 'spam';
  readonly label?: string;
  readonly has_attachments?: boolean;
  readonly active_since?: string;
  readonly active_until?: string;
}

export interface Search {
  readonly filter: SearchFilter;
  /** A name for which the page has to find the customer; null: none. */
  readonly customer: string | null;
  readonly terms: SearchTerms;
  /** Operators with a value that they can't use, as typed. */
  readonly faults: readonly string[];
  /** Names before a colon that are no operators: they were searched as words. */
  readonly unknown: readonly string[];
}

/** The terms to mark, by the place where they are marked. */
export interface SearchTerms {
  readonly text: readonly Term[];
  readonly people: readonly Term[];
  readonly subject: readonly Term[];
}

export const NO_TERMS: SearchTerms = { text: [], people: [], subject: [] };

type Operator = 'from' | 'to' | 'subject' | 'has' | 'is' | 'before' | 'after' | 'customer' | 'label';

const OPERATORS: Readonly<Record<string, Operator>> = {
  from: 'from',
  von: 'from',
  to: 'to',
  an: 'to',
  subject: 'subject',
  betreff: 'subject',
  has: 'has',
  hat: 'has',
  is: 'is',
  ist: 'is',
  before: 'before',
  vor: 'before',
  after: 'after',
  nach: 'after',
  customer: 'customer',
  kunde: 'customer',
  label: 'label',
};

const FILES = new Set(['file', 'files', 'attachment', 'datei', 'dateien', 'anhang']);
const STATES: Readonly<Record<string, SearchFilter>> = {
  unread: { unread: true },
  ungelesen: { unread: true },
  unanswered: { unanswered: true },
  unbeantwortet: { unanswered: true },
  open: { status: 'open' },
  offen: { status: 'open' },
  done: { status: 'done' },
  erledigt: { status: 'done' },
  spam: { status: 'spam' },
};

/** Quotes of any language. */
const QUOTES = '"„“”«»';
/** Input: at most 200 characters, the limit of the field. */
const PART = new RegExp(
  `(?<minus>(?<!\\S)[-−–])?(?:(?<name>\\p{L}+):)?(?:[${QUOTES}](?<quoted>[^${QUOTES}]*)[${QUOTES}]?|(?<bare>[^\\s${QUOTES}]+))?`,
  'gu',
);
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function readSearch(typed: string): Search {
  const words: Record<'q' | 'from' | 'to' | 'subject', string[]> = { q: [], from: [], to: [], subject: [] };
  const terms = { text: [] as Term[], people: [] as Term[], subject: [] as Term[] };
  let filter: SearchFilter = {};
  let customer: string | null = null;
  const faults: string[] = [];
  const unknown: string[] = [];
  for (const { 0: whole, groups = {} } of typed.matchAll(PART)) {
    const { minus, name, quoted, bare } = groups;
    const operator = name === undefined ? undefined : OPERATORS[name.toLowerCase()];
    const value = quoted ?? bare ?? '';
    const isWords =
      operator === undefined || operator === 'from' || operator === 'to' || operator === 'subject';
    if (isWords) {
      // A name that is not an operator is a word, as in `Re:`.
      const text =
        operator === undefined ? whole.trim() : `${minus ?? ''}${whole.slice(whole.indexOf(':') + 1)}`;
      if (text === '' || text === minus) continue;
      words[operator ?? 'q'].push(text);
      if (operator === undefined && name !== undefined && isTypedAsOperator(name, value)) unknown.push(name);
      const term =
        minus === undefined
          ? toTerm(
              operator === undefined && name !== undefined ? `${name} ${value}` : value,
              quoted !== undefined,
            )
          : null;
      if (term !== null)
        terms[operator === undefined ? 'text' : operator === 'subject' ? 'subject' : 'people'].push(term);
      continue;
    }
    // The reader is still typing the value.
    if (value === '') continue;
    const read = minus === undefined ? readFilter(operator, value) : null;
    if (read === null) faults.push(whole);
    else if (read === 'customer') customer = value;
    else filter = { ...filter, ...read };
  }
  for (const [part, texts] of Object.entries(words))
    if (texts.length > 0) filter = { ...filter, [part]: texts.join(' ') };
  const { text, people, subject } = terms;
  return {
    filter,
    customer,
    terms: { text, people: [...text, ...people], subject: [...text, ...subject] },
    faults,
    unknown,
  };
}

/** Prefixes of subjects, in the languages of this page and its neighbours. */
const PREFIXES = new Set(['re', 'aw', 'fw', 'fwd', 'wg', 'sv', 'antw', 'rif', 'tr']);

/** False for `Re:offer` and for an address of the web. */
const isTypedAsOperator = (name: string, value: string): boolean =>
  value !== '' && !value.startsWith('//') && !PREFIXES.has(name.toLowerCase());

/** The same search with another value of `customer:`. */
export function withCustomer(query: string, typed: string, chosen: string): string {
  for (const { 0: whole, index, groups = {} } of query.matchAll(PART)) {
    const { name, quoted, bare } = groups;
    if (OPERATORS[name?.toLowerCase() ?? ''] === 'customer' && (quoted ?? bare) === typed)
      return `${query.slice(0, index)}${name}:${chosen}${query.slice(index + whole.length)}`;
  }
  return query;
}

type FilterOperator = Exclude<Operator, 'from' | 'to' | 'subject'>;

/** null: the operator can't use the value; `customer`: the value is a name whose customer has to be found. */
function readFilter(operator: FilterOperator, value: string): SearchFilter | 'customer' | null {
  switch (operator) {
    case 'has':
      return FILES.has(value.toLowerCase()) ? { has_attachments: true } : null;
    case 'is':
      return STATES[value.toLowerCase()] ?? null;
    case 'label':
      return { label: value };
    case 'customer':
      return UUID.test(value) ? { customer_id: value } : 'customer';
    case 'before':
    case 'after': {
      const start = startOf(value);
      if (start === null) return null;
      return operator === 'before' ? { active_until: start } : { active_since: start };
    }
  }
}

const DATES = [
  /^(?<year>\d{4})(?:[-/](?<month>\d{1,2})(?:[-/](?<day>\d{1,2}))?)?$/,
  /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})$/,
];

/** The first moment of a day, month or year, in the reader's time zone; null when the value is no such date. */
function startOf(value: string): string | null {
  const found = DATES.map((pattern) => pattern.exec(value)).find((match) => match !== null);
  const { year, month = '1', day = '1' } = found?.groups ?? {};
  if (year === undefined) return null;
  const start = new Date(Number(year), Number(month) - 1, Number(day));
  // The 31st of February is not a day.
  const isDay = start.getMonth() === Number(month) - 1 && start.getDate() === Number(day);
  return isDay && start.getFullYear() === Number(year) ? start.toISOString() : null;
}
