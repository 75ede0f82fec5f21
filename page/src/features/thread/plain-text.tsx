/** The text of an email, with its links; the quoted part is folded. */
import { useState, type ReactNode } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { FoldButton } from '../../ui/fold-button.tsx';
import { shown } from '../../ui/shown.ts';
import { Marked } from '../search/marked.tsx';
import { eachOnce, LinkBar } from './link-bar.tsx';
import { linksIn } from './plain-links.ts';
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
  const disguised = linksIn(whole).flatMap(({ text: shown, host }) =>
    host === null ? [] : [{ shown, host }],
  );
  return (
    <div className="plain-text">
      <LinkBar links={eachOnce(disguised)} />
      <p className="plain-text-body">{withLinks(body)}</p>
      {quoted !== '' && <FoldButton isOpen={isOpen} onPress={() => setOpen(!isOpen)} />}
      {isOpen && newText === null && <p className="plain-text-body plain-text-quote">{withLinks(quoted)}</p>}
    </div>
  );
}

/** A link shows its whole address in character order, and its true host where that could be read as another one. */
function withLinks(value: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { index, text, href, host } of linksIn(value)) {
    parts.push(
      <Marked key={`before ${index}`}>{value.slice(end, index)}</Marked>,
      <a key={index} href={href} target="_blank" rel="noopener noreferrer">
        {host !== null && <span className="link-host">[{host}]</span>}
        <bdi dir="ltr">{shown(text)}</bdi>
      </a>,
    );
    end = index + text.length;
  }
  return [...parts, <Marked key="rest">{value.slice(end)}</Marked>];
}
