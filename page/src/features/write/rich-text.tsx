/** The text of a message with formatting and images. */
import { EditorContent, useEditor } from '@tiptap/react';
import { useImperativeHandle, useRef, useState, type KeyboardEvent, type Ref } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { notify } from '../../ui/toast.tsx';
import { toMailHtml, toPlainText, type Body } from './body.ts';
import { FileInput } from './files.tsx';
import { FormatBar } from './format-bar.tsx';
import { SHOWN_TYPES, adoptImages, isShown, type ImageSources } from './inline-image.ts';
import { filesIn } from './pasted-files.ts';
import { withoutStyles } from './pasted-styles.ts';
import { tidy } from './pasted.ts';
import { htmlOf, richSchema } from './rich-schema.ts';

export interface RichTextHandle {
  /** Removes an image from the text. */
  removeImage(contentId: string): void;
}

interface RichTextProps {
  readonly ref: Ref<RichTextHandle>;
  readonly label: string;
  readonly placeholder: string;
  /** The initial HTML; `onChange` reports everything written since. */
  readonly html: string;
  readonly images: ImageSources;
  /** Makes an image a file of the message, and returns its Content-ID; null: there is no room for it. */
  readonly onImage: (file: File) => string | null;
  /** Files that can't be shown in a text. */
  readonly onFiles: (files: readonly File[]) => void;
  readonly onChange: (body: Body) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly autoFocus: boolean;
}

/** The names that browsers give to pasted images describe nothing. */
const SAYS_NOTHING = /^(?:image|bild|img|screenshot|unnamed|unbenannt)[\d_\s-]*$/i;

export function RichText(props: RichTextProps) {
  const { ref, label, placeholder, html, images, onImage, onFiles, onChange, onKeyDown, autoFocus } = props;
  const { text, format } = useWords();
  const [isLinking, setLinking] = useState(false);
  const [isEmpty, setEmpty] = useState(html === '');
  const [schema] = useState(() => richSchema(images));
  const chosen = useRef<HTMLInputElement>(null);
  /** Puts images at a position in the text, null: at the cursor; other files are attached. */
  const take = (files: readonly File[], at: number | null): void => {
    const nodes = files.filter(isShown).flatMap((file) => {
      const contentId = onImage(file);
      if (contentId === null) return [];
      const name = file.name.replace(/\.\w+$/, '');
      const alt = SAYS_NOTHING.test(name) ? text.write.image : name;
      return [{ type: 'image', attrs: { contentId, alt } }];
    });
    const chain = editor.chain().focus();
    if (nodes.length > 0) (at === null ? chain.insertContent(nodes) : chain.insertContentAt(at, nodes)).run();
    onFiles(files.filter((file) => !isShown(file)));
  };
  const editor = useEditor({
    extensions: schema,
    content: withoutStyles(html),
    // The Content-Security-Policy refuses injected CSS; writer.css contains it.
    injectCSS: false,
    autofocus: autoFocus ? 'start' : false,
    editorProps: {
      transformPastedHTML(pasted) {
        const { body } = new DOMParser().parseFromString(withoutStyles(pasted), 'text/html');
        tidy(body);
        const refused = adoptImages(body, images, text.write.image, onImage);
        if (refused > 0) notify(text.write.imagesRefused(format.count(refused)));
        return body.innerHTML;
      },
      handlePaste: (_view, event) => {
        const files = filesIn(event.clipboardData);
        if (files.length === 0) return false;
        take(files, null);
        event.preventDefault();
        return true;
      },
      handleDrop: (view, event, _slice, isMoved) => {
        const files = [...(event.dataTransfer?.files ?? [])];
        if (isMoved || files.length === 0) return false;
        take(files, view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? null);
        return true;
      },
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
        html_body: changed.isEmpty ? '' : toMailHtml(htmlOf(changed.state.doc)),
      });
    },
  });
  useImperativeHandle(ref, () => ({
    removeImage(contentId) {
      const { tr, doc } = editor.state;
      doc.descendants((node, at) => {
        if (node.type.name === 'image' && node.attrs['contentId'] === contentId)
          tr.delete(tr.mapping.map(at), tr.mapping.map(at + node.nodeSize));
      });
      editor.view.dispatch(tr);
    },
  }));
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      setLinking(true);
    } else onKeyDown(event);
  };
  return (
    <>
      <FormatBar
        editor={editor}
        isLinking={isLinking}
        onLinking={setLinking}
        onImage={() => chosen.current?.click()}
      />
      <FileInput
        ref={chosen}
        label={text.write.insertImage}
        accept={[...SHOWN_TYPES].join()}
        onFiles={(files) => take(files, null)}
      />
      <EditorContent
        editor={editor}
        className="writer-text"
        data-placeholder={isEmpty ? placeholder : undefined}
        onKeyDown={keyDown}
      />
    </>
  );
}
