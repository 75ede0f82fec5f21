/** Finds where the quote of a sent email begins, so that it can be folded; received emails come with their new text separated. */

/** Lines above a quote that name its author, such as “On … wrote:”. */
const MAX_INTRODUCTION = 3;

export interface FoldedText {
  readonly shown: string;
  /** Empty when the text does not end with a quote. */
  readonly quoted: string;
}

export function foldText(text: string, newText: string | null): FoldedText {
  if (newText !== null) {
    const shown = newText.trimEnd();
    return { shown, quoted: shown.length < text.trimEnd().length ? text : '' };
  }
  const lines = text.split('\n');
  let begin = lines.length;
  while (begin > 0 && /^(>|\s*$)/.test(lines[begin - 1] ?? '')) begin--;
  if (!lines.slice(begin).some((line) => line.startsWith('>'))) return { shown: text.trimEnd(), quoted: '' };
  for (let above = 1; above <= MAX_INTRODUCTION; above++)
    if (/:\s*$/.test(lines[begin - 1] ?? '') && (lines[begin - above] ?? '') === '') begin -= above;
  return { shown: lines.slice(0, begin).join('\n').trimEnd(), quoted: lines.slice(begin).join('\n') };
}
