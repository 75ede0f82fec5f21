/** The list of keys and what they do; `?` shows it. */
import { useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useWords } from '../i18n/index.tsx';
import { Button } from '../ui/button.tsx';
import { useShortcuts } from './shortcuts.ts';

const KEYS = [
  ['next', 'J'],
  ['previous', 'K'],
  ['open', 'Enter'],
  ['back', 'Esc'],
  ['done', 'E'],
  ['undo', 'Z'],
  ['unread', 'U'],
  ['select', 'X'],
  ['reply', 'R'],
  ['replyAll', 'A'],
  ['forward', 'F'],
  ['write', 'C'],
  ['send', null],
  ['search', '/'],
  ['help', '?'],
] as const;

export function ShortcutHelp() {
  const { text } = useWords();
  const [isOpen, setOpen] = useState(false);
  useShortcuts({ '?': () => setOpen(true) });
  return (
    <ModalOverlay className="dialog-veil" isOpen={isOpen} onOpenChange={setOpen} isDismissable>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title" level={2}>
            {text.app.shortcuts}
          </Heading>
          <dl className="shortcut-list">
            {KEYS.map(([name, key]) => (
              <ShortcutLine
                key={name}
                what={text.shortcuts[name]}
                press={key ?? `${text.write.control} + Enter`}
              />
            ))}
          </dl>
          <Button look="outline" onPress={() => setOpen(false)}>
            {text.app.close}
          </Button>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function ShortcutLine({ what, press }: { readonly what: string; readonly press: string }) {
  return (
    <>
      <dt>{what}</dt>
      <dd>
        <kbd>{press}</kbd>
      </dd>
    </>
  );
}
