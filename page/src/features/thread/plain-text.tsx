/** The text of an email, with its links; the quoted part is folded. */
import { useState, type ReactNode } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { FoldButton } from '../../ui/fold-button.tsx';
import { shown } from '../../ui/shown.ts';
import { Marked } from '../search/marked.tsx';
import { foldText } from './quotes.ts';

interface PlainTextProps {
  readonly text: string;
  /** The text without the quote; null when it is not known. */
  readonly newText: string | null;
}

export function PlainText({ text: whole, newText }: PlainTextProps) {
  const { text } = useWords();
  const [isOpen, setOpen] = useState(false);
  const { shown, quoted } = foldText(whole, newText);
  if (whole.trim() === '') return <p className="plain-text-none">{text.thread.noText}</p>;
  // Where the new text is known separately, the quote may be in the middle of the whole text: opening it then shows the whole text.
  const body = isOpen && newText !== null ? whole : shown;
  return (
    <div className="plain-text">
      <p className="plain-text-body">{withLinks(body)}</p>
      {quoted !== '' && <FoldButton isOpen={isOpen} onPress={() => setOpen(!isOpen)} />}
      {isOpen && newText === null && <p className="plain-text-body plain-text-quote">{withLinks(quoted)}</p>}
    </div>
  );
}

const LINK = /https?:\/\/[^\s<>"'`]+/g;

/** A link shows its whole address in character order, so it can't lead to another address than the one shown. */
function withLinks(value: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: found, index } of value.matchAll(LINK)) {
    const address = found.replace(/[.,;:!?)\]}]$/, '');
    parts.push(
      <Marked key={`before ${index}`}>{value.slice(end, index)}</Marked>,
      <a key={index} href={address} target="_blank" rel="noopener noreferrer">
        <bdi dir="ltr">{shown(address)}</bdi>
      </a>,
    );
    end = index + address.length;
  }
  return [...parts, <Marked key="rest">{value.slice(end)}</Marked>];
}
