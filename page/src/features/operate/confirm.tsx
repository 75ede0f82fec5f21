/** A button that asks for confirmation before an action that can't be undone. */
import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { useOperateWords } from './operate-words.ts';

interface ConfirmProps {
  readonly label: string;
  readonly question: string;
  readonly onConfirm: () => void;
}

export function Confirm({ label, question, onConfirm }: ConfirmProps) {
  const { text } = useWords();
  const { operate } = useOperateWords();
  return (
    <DialogTrigger>
      <Button look="outline">{label}</Button>
      <ModalOverlay className="dialog-veil" isDismissable>
        <Modal className="dialog">
          <Dialog role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title" level={2}>
                  {label}
                </Heading>
                <p>{question}</p>
                <div className="operate-dialog-actions">
                  <Button look="outline" onPress={close}>
                    {text.app.cancel}
                  </Button>
                  <Button
                    look="primary"
                    onPress={() => {
                      close();
                      onConfirm();
                    }}
                  >
                    {operate.confirm}
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
