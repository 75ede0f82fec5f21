/** The frame of a dialog about accounts. */
import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from '../../../ui/button.tsx';
import { useAccountWords } from './account-words.ts';

interface DialogFrameProps {
  readonly onClose: () => void;
  /** False: a key pressed by mistake would lose what was typed. */
  readonly isUntouched?: boolean;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The content has the heading. */
export function DialogFrame({ onClose, isUntouched = true, isWide = true, children }: DialogFrameProps) {
  return (
    <ModalOverlay
      className="dialog-veil"
      isOpen
      isKeyboardDismissDisabled={!isUntouched}
      onOpenChange={(next) => !next && onClose()}
    >
      <Modal className={isWide ? 'dialog dialog-wide' : 'dialog'}>
        <Dialog>{children}</Dialog>
      </Modal>
    </ModalOverlay>
  );
}

export function AccountDialog({ title, children, ...frame }: DialogFrameProps & { readonly title: string }) {
  return (
    <DialogFrame {...frame}>
      <Heading slot="title" level={2} className="dialog-title">
        {title}
      </Heading>
      {children}
    </DialogFrame>
  );
}

/** The buttons at the end, after one that gives up. */
export function DialogActions({
  onCancel,
  children,
}: {
  readonly onCancel: () => void;
  readonly children: ReactNode;
}) {
  const { text } = useAccountWords();
  return (
    <div className="step-actions">
      <span className="step-space" />
      <Button look="outline" onPress={onCancel}>
        {text.app.cancel}
      </Button>
      {children}
    </div>
  );
}
