/** The operators of a search; choosing one puts it into the field. */
import { CircleQuestionMark } from '../../ui/icons.tsx';
import { useRef } from 'react';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';
import '../../ui/menu.css';

interface SearchHelpProps {
  readonly onChoose: (operator: string) => void;
  /** The help is closed, and the reader continues typing. */
  readonly onReturn: () => void;
}

export function SearchHelp({ onChoose, onReturn }: SearchHelpProps) {
  const isChosen = useRef(false);
  const { text } = useWords();
  return (
    <MenuTrigger>
      {/* The focus comes back to the button when the menu is gone. */}
      <span
        className="search-help"
        onFocus={() => {
          if (isChosen.current) onReturn();
          isChosen.current = false;
        }}
      >
        <IconButton icon={CircleQuestionMark} label={text.search.help} />
      </span>
      <Popover className="popover" placement="bottom end">
        <Menu
          className="menu"
          onAction={(key) => {
            isChosen.current = true;
            onChoose(String(key));
          }}
        >
          <MenuSection>
            <Header className="menu-title">{text.search.help}</Header>
            {text.search.operators.map(({ operator, example, means }) => (
              <MenuItem key={operator} id={operator} className="menu-item" textValue={example}>
                <code className="search-example">{example}</code>
                <span>{means}</span>
              </MenuItem>
            ))}
          </MenuSection>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
