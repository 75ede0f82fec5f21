/** The text of a message with formatting. */
import { EditorContent, useEditor } from '@tiptap/react';
import { useState, type KeyboardEvent } from 'react';
import { toMailHtml, toPlainText, type Body } from './body.ts';
import { FormatBar } from './format-bar.tsx';
import { withoutStyles } from './pasted.ts';
import { RICH_SCHEMA } from './rich-schema.ts';

interface RichTextProps {
  readonly label: string;
  readonly placeholder: string;
  /** What it begins with; what is written since is told by `onChange`. */
  readonly html: string;
  readonly onChange: (body: Body) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly autoFocus: boolean;
}

export function RichText({ label, placeholder, html, onChange, onKeyDown, autoFocus }: RichTextProps) {
  const [isLinking, setLinking] = useState(false);
  const [isEmpty, setEmpty] = useState(html === '');
  const editor = useEditor({
    extensions: RICH_SCHEMA,
    content: withoutStyles(html),
    // The Content-Security-Policy refuses it; writer.css has it.
    injectCSS: false,
    autofocus: autoFocus ? 'start' : false,
    editorProps: {
      transformPastedHTML: withoutStyles,
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': label,
        'aria-placeholder': placeholder,
        class: 'writer-rich',
      },
    },
    onUpdate: ({ editor: changed }) => {
      setEmpty(changed.isEmpty);
      onChange({
        text_body: changed.isEmpty ? '' : toPlainText(changed.getJSON()),
        html_body: changed.isEmpty ? '' : toMailHtml(changed.getHTML()),
      });
    },
  });
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      setLinking(true);
    } else onKeyDown(event);
  };
  return (
    <>
      <FormatBar editor={editor} isLinking={isLinking} onLinking={setLinking} />
      <EditorContent
        editor={editor}
        className="writer-text"
        data-placeholder={isEmpty ? placeholder : undefined}
        onKeyDown={keyDown}
      />
    </>
  );
}
