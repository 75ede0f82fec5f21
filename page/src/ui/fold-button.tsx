/** Shows and hides the quoted part of an email. */
import { Ellipsis } from './icons.tsx';
import { Button } from 'react-aria-components';
import { useWords } from '../i18n/index.tsx';

interface FoldButtonProps {
  readonly isOpen: boolean;
  readonly onPress: () => void;
}

export function FoldButton({ isOpen, onPress }: FoldButtonProps) {
  const { text } = useWords();
  return (
    <Button
      className="fold-button"
      aria-label={isOpen ? text.thread.hideQuoted : text.thread.quoted}
      aria-expanded={isOpen}
      onPress={onPress}
    >
      <Ellipsis size={16} aria-hidden />
    </Button>
  );
}
