/** The addresses that an account sends as besides its own. */
import { useRef } from 'react';
import { Input } from 'react-aria-components';
import { Button, IconButton } from '../../../ui/button.tsx';
import { X } from '../../../ui/icons.tsx';
import type { AddressRow } from './account-change.ts';
import { useAccountWords } from './account-words.ts';

interface AddressRowsProps {
  readonly rows: readonly AddressRow[];
  readonly problem: string | undefined;
  readonly onChange: (rows: readonly AddressRow[]) => void;
}

const NEW: AddressRow = { address: '', name: '', stored: null };

export function AddressRows({ rows, problem, onChange }: AddressRowsProps) {
  const { accounts, format } = useAccountWords();
  const words = accounts.edit;
  const list = useRef<HTMLFieldSetElement>(null);
  const change = (index: number, to: Partial<AddressRow>): void =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...to } : row)));
  const add = (): void => {
    onChange([...rows, NEW]);
    // Once the new row is there.
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLElement>('.address-row:last-of-type input')?.focus(),
    );
  };
  return (
    <fieldset ref={list} className="option-set">
      <legend className="field-label">{words.addresses}</legend>
      <p className="field-hint">{words.addressesHint}</p>
      {rows.map((row, index) => {
        const number = format.count(index + 1);
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a row has nothing else of its own, and rows keep their order
          <div className="address-row" key={index}>
            <Input
              className="input"
              aria-label={words.address(number)}
              aria-invalid={problem !== undefined}
              placeholder="sales@example.com"
              autoComplete="off"
              value={row.address}
              onChange={({ target }) => change(index, { address: target.value })}
            />
            <Input
              className="input"
              aria-label={words.addressName(number)}
              placeholder={words.namePlaceholder}
              autoComplete="off"
              value={row.name}
              onChange={({ target }) => change(index, { name: target.value })}
            />
            <IconButton
              icon={X}
              label={words.remove(row.address || number)}
              onPress={() => onChange(rows.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      {problem !== undefined && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
      <div>
        <Button look="outline" onPress={add}>
          {words.add}
        </Button>
      </div>
    </fieldset>
  );
}
