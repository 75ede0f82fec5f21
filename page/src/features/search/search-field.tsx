/** Searches while you type; the address contains the search text, so that Back and links work. */
import { useNavigate } from '@tanstack/react-router';
import { Search, X } from '../../ui/icons.tsx';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button as AriaButton, Input, SearchField as AriaSearchField } from 'react-aria-components';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useWords } from '../../i18n/index.tsx';
import { SearchHelp } from './search-help.tsx';
import './search.css';

/** A word is searched for only once typing pauses. */
const TYPING_MS = 250;
/** The service accepts no longer queries. */
const MAX_QUERY = 200;

/** What a person has typed when the field of a search takes the place of that of a folder: letters may have come since it was opened. */
let handedOver: string | null = null;

interface SearchFieldProps {
  /** The search whose results the list shows; null: the list shows a folder. */
  readonly query: string | null;
}

export function SearchField({ query }: SearchFieldProps) {
  const { text } = useWords();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(query ?? '');
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const cancel = (): void => {
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = null;
  };
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  useEffect(() => {
    // A link or Back led to another search; the text is never replaced while a person types in the field.
    if (document.activeElement !== input.current) setTyped(query ?? '');
  }, [query]);
  useShortcuts({ '/': () => input.current?.focus() });
  const go = (value: string): void => {
    cancel();
    const q = value.trim();
    if (q === '') {
      if (query !== null) void navigate({ to: '/' });
    } else if (q !== query) void navigate({ to: '/search', search: { q }, replace: query !== null });
  };
  const type = (value: string): void => {
    setTyped(value);
    cancel();
    timer.current = setTimeout(() => go(value), TYPING_MS);
  };
  useLayoutEffect(() => {
    const field = input.current;
    if (handedOver !== null && handedOver !== (query ?? '')) type(handedOver);
    handedOver = null;
    return () => {
      handedOver = field !== null && document.activeElement === field ? field.value : null;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once: a field takes over from the one before it
  }, []);
  /** Appends an operator from the help. */
  const add = (operator: string): void => {
    type(`${typed === '' ? '' : `${typed.trimEnd()} `}${operator}`.slice(0, MAX_QUERY));
  };
  return (
    <div className="search-bar">
      <AriaSearchField
        className="search"
        aria-label={text.search.label}
        value={typed}
        maxLength={MAX_QUERY}
        autoFocus={query !== null}
        onChange={type}
        onSubmit={go}
        onClear={() => go('')}
      >
        <Search className="search-icon" size={16} strokeWidth={1.75} aria-hidden />
        <Input ref={input} placeholder={text.search.placeholder} />
        <AriaButton className="button button-icon" aria-label={text.search.clear}>
          <X size={16} aria-hidden />
        </AriaButton>
      </AriaSearchField>
      <SearchHelp onChoose={add} onReturn={() => input.current?.focus()} />
    </div>
  );
}
