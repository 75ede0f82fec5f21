/** The frame of a dialog about one account. */
import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface AccountDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** False: a key pressed by mistake would lose what was typed. */
  readonly isUntouched?: boolean;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

export function AccountDialog({
  title,
  onClose,
  isUntouched = true,
  isWide = true,
  children,
}: AccountDialogProps) {
  return (
    <ModalOverlay
      className="dialog-veil"
      isOpen
      isKeyboardDismissDisabled={!isUntouched}
      onOpenChange={(next) => !next && onClose()}
    >
      <Modal className={isWide ? 'dialog dialog-wide' : 'dialog'}>
        <Dialog>
          <Heading slot="title" level={2} className="dialog-title">
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
