/** A text that is cut in its middle where it is too long for its place: the end says what it is, and is always shown. */
import { Marked } from '../features/search/marked.tsx';
import type { SearchTerms } from '../features/search/search-language.ts';
import { cutOfAddress, cutOfFile } from './middle.ts';
import './middle.css';

interface MiddleProps {
  readonly children: string;
  readonly is: 'address' | 'file';
  /** The search terms to mark; default: none. */
  readonly of?: keyof SearchTerms;
}

export function Middle({ children, is, of }: MiddleProps) {
  const at = is === 'file' ? cutOfFile(children) : cutOfAddress(children);
  const marked = (part: string) => (of === undefined ? part : <Marked of={of}>{part}</Marked>);
  return (
    <span className="middle" title={children}>
      <span className="middle-start" data-is-long={at > 3 ? '' : undefined}>
        {marked(children.slice(0, at))}
      </span>
      <span className="middle-end">{marked(children.slice(at))}</span>
    </span>
  );
}
