/** A table that becomes a list of cards in a narrow window. Each cell carries its heading for that. */
import type { ReactNode } from 'react';

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ReactNode;
  /** True for the column that identifies the row: it takes the remaining width. */
  readonly isWide?: boolean;
}

interface TableProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  /** Buttons at the end of a row. */
  readonly actions?: (item: Item) => ReactNode;
}

export function Table<Item>({ label, items, columns, idOf, actions }: TableProps<Item>) {
  return (
    <table className="operate-table">
      <caption className="hidden-text">{label}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isWide = false }) => (
            <th key={title} scope="col" data-is-wide={isWide ? '' : undefined}>
              {title}
            </th>
          ))}
          {actions !== undefined && <td aria-hidden />}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={idOf(item)}>
            {columns.map(({ title, cell, isWide = false }) => (
              <td key={title} data-title={title} data-is-wide={isWide ? '' : undefined}>
                {cell(item)}
              </td>
            ))}
            {actions !== undefined && <td className="operate-actions">{actions(item)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
