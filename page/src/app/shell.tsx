/** The frame of every view: the folders at the left, or in a drawer where the window is narrow. */
import { useSyncExternalStore, useState, type ReactNode } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { useLiveEvents } from '../api/live.ts';
import { Sidebar } from '../features/folders/sidebar.tsx';
import { useWords } from '../i18n/index.tsx';
import { DrawerContext } from './drawer.ts';
import { useKeptFocus } from './kept-focus.ts';
import { useNewMessage } from './links.ts';
import { useMay } from './session.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';
import './shell.css';

const NONE = {};

interface ShellProps {
  readonly children: ReactNode;
}

export function Shell({ children }: ShellProps) {
  const { text } = useWords();
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const isOnline = useOnline();
  useLiveEvents(useMay('read'));
  useKeptFocus();
  const mayWrite = useMay('draft');
  const writeNew = useNewMessage();
  useShortcuts(mayWrite ? { c: writeNew } : NONE);
  return (
    <DrawerContext value={setDrawerOpen}>
      <a className="skip-link" href="#list">
        {text.app.skipToList}
      </a>
      <div className="shell">
        <aside className="shell-side">
          <Sidebar />
        </aside>
        <div className="shell-main">
          {!isOnline && (
            <p className="offline" role="status">
              {text.app.offline}
            </p>
          )}
          {children}
        </div>
      </div>
      <ModalOverlay className="drawer-veil" isOpen={isDrawerOpen} onOpenChange={setDrawerOpen} isDismissable>
        <Modal className="drawer">
          <Dialog aria-label={text.folders.title}>
            <Sidebar onGo={() => setDrawerOpen(false)} />
          </Dialog>
        </Modal>
      </ModalOverlay>
      <ShortcutHelp />
    </DrawerContext>
  );
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

const useOnline = (): boolean => useSyncExternalStore(subscribe, () => navigator.onLine);
