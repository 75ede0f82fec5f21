/** Opens the folders where the window is too narrow to show them. */
import { Menu } from '../ui/icons.tsx';
import { useWords } from '../i18n/index.tsx';
import { IconButton } from '../ui/button.tsx';
import { useDrawer } from './drawer.ts';
import './drawer-button.css';

export function DrawerButton() {
  const { text } = useWords();
  const openDrawer = useDrawer();
  return (
    <span className="drawer-button">
      <IconButton icon={Menu} label={text.app.menu} onPress={() => openDrawer(true)} />
    </span>
  );
}
