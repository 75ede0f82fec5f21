/** A text with the search terms marked; built from text alone. */
import { createContext, Fragment, use } from 'react';
import { NO_TERMS, type SearchTerms } from './search-language.ts';
import { markHits } from './search-terms.ts';

/** The search terms of the list on screen. */
export const Terms = createContext<SearchTerms>(NO_TERMS);

interface MarkedProps {
  readonly children: string;
  readonly of?: keyof SearchTerms;
}

export function Marked({ children, of = 'text' }: MarkedProps) {
  const terms = use(Terms)[of];
  if (terms.length === 0) return children;
  return markHits(children, terms).map(({ text, isHit }, index) =>
    // The pieces of a text never change one by one.
    // oxlint-disable-next-line no-array-index-key
    isHit ? <mark key={index}>{text}</mark> : <Fragment key={index}>{text}</Fragment>,
  );
}
