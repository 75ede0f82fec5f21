/** The buttons that format the selected text. */
import type { Editor } from '@tiptap/core';
import { useEditorState } from '@tiptap/react';
import {
  Bold,
  Heading,
  Image,
  Italic,
  Link,
  List,
  ListOrdered,
  Table,
  TextQuote,
  Underline,
  type IconType,
} from '../../ui/icons.tsx';
import { useRef, type Ref } from 'react';
import {
  Dialog,
  FieldError,
  Form,
  Input,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
  TextField,
  ToggleButton,
  Toolbar,
  Tooltip,
  TooltipTrigger,
} from 'react-aria-components';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import '../../ui/field.css';
import '../../ui/menu.css';
import { toLink } from './body.ts';
import { TABLE_ACTS, actOnTable, type TableAct } from './table.ts';

interface FormatBarProps {
  readonly editor: Editor;
  readonly isLinking: boolean;
  readonly onLinking: (isLinking: boolean) => void;
  /** Asks the reader to choose an image. */
  readonly onImage: () => void;
}

const COMMANDS = {
  bold: { icon: Bold, keys: 'B', run: (editor: Editor) => editor.chain().focus().toggleBold().run() },
  italic: { icon: Italic, keys: 'I', run: (editor: Editor) => editor.chain().focus().toggleItalic().run() },
  underline: {
    icon: Underline,
    keys: 'U',
    run: (editor: Editor) => editor.chain().focus().toggleUnderline().run(),
  },
  heading: {
    icon: Heading,
    keys: 'Alt + 3',
    run: (editor: Editor) => editor.chain().focus().toggleHeading({ level: 3 }).run(),
  },
  bulletList: {
    icon: List,
    keys: 'Shift + 8',
    run: (editor: Editor) => editor.chain().focus().toggleBulletList().run(),
  },
  orderedList: {
    icon: ListOrdered,
    keys: 'Shift + 7',
    run: (editor: Editor) => editor.chain().focus().toggleOrderedList().run(),
  },
  blockquote: {
    icon: TextQuote,
    keys: 'Shift + B',
    run: (editor: Editor) => editor.chain().focus().toggleBlockquote().run(),
  },
} as const;

type Command = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as readonly Command[];

export function FormatBar({ editor, isLinking, onLinking, onImage }: FormatBarProps) {
  const { text } = useWords();
  const link = useRef<HTMLButtonElement>(null);
  const active = useEditorState({
    editor,
    selector: ({ editor: shown }) =>
      [...NAMES, 'link', 'table'].filter((name) => shown.isActive(name)).join(' '),
  }).split(' ');
  return (
    <Toolbar className="format-bar" aria-label={text.write.formatting}>
      {NAMES.map((name) => (
        <Toggle
          key={name}
          icon={COMMANDS[name].icon}
          label={text.write.formats[name]}
          keys={`${text.write.control} + ${COMMANDS[name].keys}`}
          isOn={active.includes(name)}
          onPress={() => COMMANDS[name].run(editor)}
        />
      ))}
      <Toggle
        ref={link}
        icon={Link}
        label={text.write.formats.link}
        keys={`${text.write.control} + K`}
        isOn={active.includes('link')}
        onPress={() => onLinking(true)}
      />
      <IconButton icon={Image} label={text.write.insertImage} onPress={onImage} />
      {active.includes('table') && <TableMenu editor={editor} />}
      <Popover
        className="popover"
        placement="bottom start"
        triggerRef={link}
        isOpen={isLinking}
        onOpenChange={onLinking}
      >
        <Dialog aria-label={text.write.formats.link}>
          <LinkForm
            editor={editor}
            onEnd={() => {
              onLinking(false);
              editor.commands.focus();
            }}
          />
        </Dialog>
      </Popover>
    </Toolbar>
  );
}

function TableMenu({ editor }: { readonly editor: Editor }) {
  const { text } = useWords();
  return (
    <MenuTrigger>
      <IconButton icon={Table} label={text.write.table} />
      <Popover className="popover" placement="bottom start">
        <Menu className="menu" onAction={(name) => actOnTable(editor, name as TableAct)}>
          {(Object.keys(TABLE_ACTS) as TableAct[]).map((name) => (
            <MenuItem key={name} id={name} className="menu-item">
              {text.write.tableActs[name]}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

interface ToggleProps {
  readonly icon: IconType;
  readonly label: string;
  readonly keys: string;
  readonly isOn: boolean;
  readonly onPress: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

const TOOLTIP_DELAY_MS = 500;

function Toggle({ icon: Icon, label, keys, isOn, onPress, ref }: ToggleProps) {
  return (
    <TooltipTrigger delay={TOOLTIP_DELAY_MS}>
      <ToggleButton
        {...(ref === undefined ? {} : { ref })}
        className="button button-icon"
        aria-label={label}
        isSelected={isOn}
        onPress={onPress}
      >
        <Icon size={16} strokeWidth={1.75} aria-hidden />
      </ToggleButton>
      <Tooltip className="tooltip" offset={6}>
        {label}
        <kbd>{keys}</kbd>
      </Tooltip>
    </TooltipTrigger>
  );
}

function LinkForm({ editor, onEnd }: { readonly editor: Editor; readonly onEnd: () => void }) {
  const { text } = useWords();
  const href: unknown = editor.getAttributes('link')['href'];
  const isLink = typeof href === 'string';
  const set = (address: string, words: string): void => {
    const chain = editor.chain().focus().extendMarkRange('link');
    if (!isLink && editor.state.selection.empty)
      chain.insertContent({ type: 'text', text: words, marks: [{ type: 'link', attrs: { href: address } }] });
    else chain.setLink({ href: address });
    chain.run();
  };
  return (
    <Form
      className="popover-form"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = new FormData(event.currentTarget).get('href');
        const address = typeof typed === 'string' ? toLink(typed) : null;
        if (address === null || typeof typed !== 'string') return;
        set(address, typed.trim());
        onEnd();
      }}
    >
      <TextField
        className="field"
        name="href"
        aria-label={text.write.linkTo}
        defaultValue={isLink ? href : ''}
        isRequired
        validate={(typed) => (typed === '' || toLink(typed) !== null ? null : text.write.noLink)}
        autoFocus
      >
        <Input className="input" placeholder={text.write.linkTo} />
        <FieldError className="field-error" />
      </TextField>
      <Button look="primary" type="submit">
        {text.thread.save}
      </Button>
      {isLink && (
        <Button
          look="outline"
          onPress={() => {
            editor.chain().focus().extendMarkRange('link').unsetLink().run();
            onEnd();
          }}
        >
          {text.write.unlink}
        </Button>
      )}
    </Form>
  );
}
