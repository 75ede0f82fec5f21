/** Shows who is logged in, switches between light and dark, and logs out. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Check, LogOut, Monitor, Moon, Settings2, Sun } from '../../ui/icons.tsx';
import { Menu, MenuItem, MenuSection, MenuTrigger, Header, Popover, Separator } from 'react-aria-components';
import { logOut } from '../../api/session.ts';
import { endSession } from '../../app/session-gate.tsx';
import { forgetTexts, handOverTexts } from '../../app/recovered-texts.ts';
import { useSession } from '../../app/session.tsx';
import { useTheme, type Theme } from '../../app/theme.ts';
import { useWords } from '../../i18n/index.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/toast.tsx';
import '../../ui/menu.css';

interface UserMenuProps {
  /** The reader chose an entry that leads elsewhere. */
  readonly onGo: (() => void) | undefined;
}

export function UserMenu({ onGo }: UserMenuProps) {
  const { text } = useWords();
  const session = useSession();
  const { name } = session;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [theme, setTheme] = useTheme();
  const leave = (everywhere: boolean): void => {
    handOverTexts(session)
      .then(() => logOut(everywhere))
      .then(
        () => {
          forgetTexts(session);
          endSession(queryClient);
        },
        () => notify(text.app.unreachable),
      );
  };
  const themes = [
    ['system', text.app.themeSystem, Monitor],
    ['light', text.app.themeLight, Sun],
    ['dark', text.app.themeDark, Moon],
  ] as const;
  return (
    <MenuTrigger>
      <Button>
        <Avatar name={name} of={name} isSmall />
        <span className="truncate">{name}</span>
      </Button>
      <Popover className="popover" placement="top start">
        <Menu className="menu">
          <MenuSection
            selectionMode="single"
            selectedKeys={[theme]}
            onSelectionChange={(chosen) => {
              const [next] = chosen === 'all' ? [] : chosen;
              if (next !== undefined) setTheme(next as Theme);
            }}
          >
            <Header className="menu-title">{text.app.theme}</Header>
            {themes.map(([id, title, Icon]) => (
              <MenuItem key={id} id={id} className="menu-item" textValue={title}>
                <Icon size={16} strokeWidth={1.75} aria-hidden />
                {title}
                {theme === id && <Check className="menu-item-check" size={16} aria-hidden />}
              </MenuItem>
            ))}
          </MenuSection>
          <Separator className="menu-line" />
          <MenuItem
            id="operate"
            className="menu-item"
            onAction={() => {
              onGo?.();
              void navigate({ to: '/operate/$section', params: { section: 'accounts' } });
            }}
          >
            <Settings2 size={16} strokeWidth={1.75} aria-hidden />
            {text.app.operate}
          </MenuItem>
          <MenuItem id="leave" className="menu-item" onAction={() => leave(false)}>
            <LogOut size={16} strokeWidth={1.75} aria-hidden />
            {text.app.logOut}
          </MenuItem>
          <MenuItem id="leave-all" className="menu-item" onAction={() => leave(true)}>
            <LogOut size={16} strokeWidth={1.75} aria-hidden />
            {text.app.logOutEverywhere}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
