/** A recipient field that suggests known addresses: the combobox of the ARIA practices, for several addresses in one field. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { KnownAddress } from 'email-worker-client';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { addressesQuery } from '../../api/queries.ts';
import { useWords } from '../../i18n/index.tsx';
import { nameOf } from '../threads/rows.ts';
import { completeEntry, lastEntry } from './addresses.ts';
import { useLate } from './use-late.ts';

/** With more characters a search for addresses makes no sense. */
const MAX_ASKED_CHARS = 100;

interface RecipientsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly autoFocus?: boolean;
  /** Shown beside the field. */
  readonly children?: ReactNode;
}

export function Recipients({
  label,
  value,
  onChange,
  onKeyDown,
  autoFocus = false,
  children,
}: RecipientsProps) {
  const { text } = useWords();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const entry = lastEntry(value);
  const asked = useLate(isOpen && entry.length <= MAX_ASKED_CHARS ? entry : '');
  const found = useQuery({
    ...addressesQuery(asked),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  const offered = isOpen && entry !== '' && asked !== '' ? (found.data ?? []) : [];
  const isShown = offered.length > 0;
  const current = Math.min(active, offered.length - 1);
  const choose = (address: KnownAddress): void => {
    onChange(completeEntry(value, address));
    setOpen(false);
    setActive(0);
  };
  const keyDown = (event: KeyboardEvent): void => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.nativeEvent.isComposing;
    const address = offered[current];
    if (!isShown || !isPlain || address === undefined) {
      onKeyDown(event);
      return;
    }
    if (event.key === 'ArrowDown') setActive((current + 1) % offered.length);
    else if (event.key === 'ArrowUp') setActive((current - 1 + offered.length) % offered.length);
    else if (event.key === 'Enter') choose(address);
    else if (event.key === 'Escape') setOpen(false);
    else return;
    event.preventDefault();
  };
  return (
    <div className="writer-field">
      <label htmlFor={`${id}-field`}>{label}</label>
      <input
        id={`${id}-field`}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={isShown ? `${id}-list` : undefined}
        aria-activedescendant={isShown ? `${id}-${current}` : undefined}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          setOpen(true);
          setActive(0);
        }}
        onKeyDown={keyDown}
        onBlur={() => setOpen(false)}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        autoFocus={autoFocus}
      />
      {children}
      {isShown && (
        <div className="writer-offer" id={`${id}-list`} role="listbox" aria-label={text.write.known}>
          {offered.map((address, index) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has the keys
            <div
              key={address.address}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              // Keeps the focus in the field.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(address)}
            >
              <span className="truncate">{nameOf(address)}</span>
              {address.name !== '' && (
                <span className="writer-offer-address truncate">{address.address}</span>
              )}
              {address.suppressed && <span className="chip chip-bad">{text.write.suppressed}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
