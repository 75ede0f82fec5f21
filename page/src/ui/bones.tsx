/** A placeholder in the shape of the content that is loading; screen readers announce that it is loading. */
import { Fragment, type ReactNode } from 'react';
import { useWords } from '../i18n/index.tsx';

interface BonesProps {
  readonly className?: string;
  readonly count: number;
  /** The shape of one placeholder. Default: a line. */
  readonly shape?: ReactNode;
}

const LINE = <span className="bone" />;

export function Bones({ className, count, shape = LINE }: BonesProps) {
  const { text } = useWords();
  return (
    <div role="status" aria-label={text.app.loading}>
      <div className={className} aria-hidden>
        {Array.from({ length: count }, (_, index) => (
          <Fragment key={index}>{shape}</Fragment>
        ))}
      </div>
    </div>
  );
}
