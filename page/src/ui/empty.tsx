/** The message in an empty view, or in one that failed to load. */
import type { IconType } from './icons.tsx';
import { CloudOff } from './icons.tsx';
import { useWords } from '../i18n/index.tsx';
import { Button } from './button.tsx';
import './empty.css';

interface EmptyProps {
  readonly icon: IconType;
  readonly title: string;
  readonly hint?: string;
}

export function Empty({ icon: Icon, title, hint }: EmptyProps) {
  return (
    <div className="empty">
      <Icon className="empty-icon" size={36} strokeWidth={1.25} aria-hidden />
      <p className="empty-title">{title}</p>
      {hint !== undefined && <p className="empty-hint">{hint}</p>}
    </div>
  );
}

interface FailureProps {
  readonly title: string;
  readonly hint?: string;
  readonly onRetry: () => void;
}

export function Failure({ title, hint, onRetry }: FailureProps) {
  const { text } = useWords();
  return (
    <div className="empty" role="alert">
      <CloudOff className="empty-icon" size={36} strokeWidth={1.25} aria-hidden />
      <p className="empty-title">{title}</p>
      {hint !== undefined && <p className="empty-hint">{hint}</p>}
      <Button look="outline" onPress={onRetry}>
        {text.app.retry}
      </Button>
    </div>
  );
}
