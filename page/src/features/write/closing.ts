/** What the service puts below a message: a signature, and the footer of the company. The page only shows them. */
import type { Body } from './body.ts';

export interface ClosingText {
  readonly text: string;
  /** null: the text, in HTML. */
  readonly html: string | null;
}

/** The variables of a signature. */
export interface SignatureValues {
  readonly author: { readonly name: string };
  readonly account: { readonly id: string; readonly name: string; readonly address: string };
}

export interface FilledSignature extends ClosingText {
  /** False: it has filters or conditions, and only the service can fill it in. */
  readonly isFilled: boolean;
}

const VARIABLE = /\{\{\s*(author\.name|account\.(?:id|name|address))\s*\}\}/g;
const LIQUID = /\{[{%]/;

/** The signature with its variables filled in, as the service does it; null: it is empty then. */
export function fillSignature(
  { text, html }: ClosingText,
  { author, account }: SignatureValues,
): FilledSignature | null {
  if (LIQUID.test((text + (html ?? '')).replaceAll(VARIABLE, ''))) return { text, html, isFilled: false };
  const values: Readonly<Record<string, string>> = {
    'author.name': author.name,
    'account.id': account.id,
    'account.name': account.name,
    'account.address': account.address,
  };
  const valueOf = (name: string): string => values[name] ?? '';
  const filled = text.replaceAll(VARIABLE, (_, name: string) => valueOf(name));
  if (filled.trim() === '') return null;
  return {
    text: filled,
    html: html?.replaceAll(VARIABLE, (_, name: string) => escapeHtml(valueOf(name))) ?? null,
    isFilled: true,
  };
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPED[sign] ?? sign);

interface SentClosing {
  readonly signature: ClosingText | null;
  readonly footer: ClosingText | null;
}

/**
 * The text of an email that was sent, without what the service put below it and would put there again. What was changed since in the
 * settings is not recognised, and stays in the text.
 */
export function withoutClosing(
  body: Body,
  { signature, footer }: SentClosing,
): Body & { readonly signature: boolean } {
  const ways = [
    { parts: [signature, footer], isSigned: true },
    { parts: [footer], isSigned: false },
    { parts: [signature], isSigned: true },
  ];
  for (const { parts, isSigned } of ways) {
    const known = parts.filter((part) => part !== null);
    const found = known.length === parts.length ? without(body, known) : null;
    if (found !== null) return { ...found, signature: isSigned };
  }
  return { ...body, signature: false };
}

/** null: they are not in both forms. The forms are those of src/core/reply/with-closing.ts. */
function without({ text_body: text, html_body: html }: Body, parts: readonly ClosingText[]): Body | null {
  const closingText = `-- \n${parts.map((part) => part.text.trimEnd()).join('\n\n')}\n`;
  const shown = parts.map(
    (part) => part.html ?? `<span style="white-space:pre-wrap">${escapeText(part.text.trimEnd())}</span>`,
  );
  const closingHtml = `<br><div>-- <br>${shown.map((part) => `<div>${part}</div>`).join('<br>')}</div>`;
  const at = text.indexOf(closingText);
  if (at === -1 || (html !== null && !html.includes(closingHtml))) return null;
  const [above, below] = [text.slice(0, at), text.slice(at + closingText.length)];
  if (!isOwnText(above) || !ANSWERED.test(below)) return null;
  return {
    text_body: (above + below).trimEnd(),
    html_body: html?.replace(closingHtml, () => '') ?? null,
  };
}

/** The title of a forwarded email (QUOTE_TEXTS of src/core/texts.ts). */
const FORWARDED = /^-{10} \S.* -{10}$/m;
/**
 * All that the service puts below a closing: nothing, a quote, or a forwarded email. Other text is the rest of a longer closing, such as an
 * earlier footer, or was written there.
 */
const ANSWERED = /^(?:$|\n(?:>|[^\n]+\n\n>|-{10} ))/;

/** Of a forward without a closing, the closing that is found is that of the forwarded email. */
const isOwnText = (above: string): boolean =>
  (above === '' || above.endsWith('\n')) && !FORWARDED.test(above);

/** As `escapeText` of the package entities. */
const escapeText = (text: string): string =>
  text.replace(/[&<>\u00a0]/g, (sign) => (sign === '\u00a0' ? '&nbsp;' : (ESCAPED[sign] ?? sign)));
