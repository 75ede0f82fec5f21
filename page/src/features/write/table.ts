/** Tables in a message: those that are pasted, and what can be done in them. */
import { Node, type Editor } from '@tiptap/core';
import {
  CellSelection,
  addColumnAfter,
  addRowAfter,
  deleteColumn,
  deleteRow,
  deleteTable,
  goToNextCell,
  tableEditing,
} from '@tiptap/pm/tables';

/** A cell that claimed more would make the browser lay out an endless table. */
const MAX_SPAN = 50;

const ROLES: Readonly<Record<string, string>> = {
  table: 'table',
  tableRow: 'row',
  tableCell: 'cell',
  tableHeader: 'header_cell',
};

const span = (name: 'colspan' | 'rowspan') => ({
  default: 1,
  parseHTML: (cell: HTMLElement) =>
    Math.min(Math.max(Math.trunc(Number(cell.getAttribute(name))) || 1, 1), MAX_SPAN),
  renderHTML: (attributes: Readonly<Record<string, unknown>>) =>
    attributes[name] === 1 ? {} : { [name]: attributes[name] },
});

const cell = (name: string, tag: string) =>
  Node.create({
    name,
    content: 'block+',
    isolating: true,
    addAttributes: () => ({
      colspan: span('colspan'),
      rowspan: span('rowspan'),
      // prosemirror-tables asks for it; the widths of columns are not set here.
      colwidth: { default: null, rendered: false },
    }),
    parseHTML: () => [{ tag }],
    renderHTML: ({ HTMLAttributes }) => [tag, HTMLAttributes, 0],
  });

const Table = Node.create({
  name: 'table',
  group: 'block',
  content: 'tableRow+',
  isolating: true,
  parseHTML: () => [{ tag: 'table' }],
  // Mail programs show lines and distances by these alone.
  renderHTML: () => ['table', { border: '1', cellpadding: '4', cellspacing: '0' }, ['tbody', 0]],
  extendNodeSchema: ({ name }) => ({ tableRole: ROLES[name] }),
  addKeyboardShortcuts() {
    const { editor } = this;
    const command = (run: Parameters<typeof act>[1]) => () => act(editor, run);
    const deleteWhole = () => isWholeSelected(editor) && act(editor, deleteTable);
    return {
      Tab: () =>
        act(editor, goToNextCell(1)) ||
        (editor.isActive('table') && act(editor, addRowAfter) && act(editor, goToNextCell(1))),
      'Shift-Tab': command(goToNextCell(-1)),
      Backspace: deleteWhole,
      Delete: deleteWhole,
    };
  },
  addProseMirrorPlugins: () => [tableEditing()],
});

const Row = Node.create({
  name: 'tableRow',
  content: '(tableCell | tableHeader)*',
  parseHTML: () => [{ tag: 'tr' }],
  renderHTML: () => ['tr', 0],
});

export const TABLES = [Table, Row, cell('tableCell', 'td'), cell('tableHeader', 'th')];

const act = (editor: Editor, run: typeof deleteTable): boolean => run(editor.state, editor.view.dispatch);

const isWholeSelected = ({ state: { selection } }: Editor): boolean =>
  selection instanceof CellSelection && selection.isRowSelection() && selection.isColSelection();

/** The acts on the table that the cursor is in, in the order of the menu. */
export const TABLE_ACTS = { addRowAfter, addColumnAfter, deleteRow, deleteColumn, deleteTable } as const;
export type TableAct = keyof typeof TABLE_ACTS;

export function actOnTable(editor: Editor, name: TableAct): void {
  act(editor, TABLE_ACTS[name]);
  editor.commands.focus();
}
