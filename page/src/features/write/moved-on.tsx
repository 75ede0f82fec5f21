/** Asks before an answer follows emails that its writer has not seen: it shows them above the writer's own text. */
import type { NewEmail } from 'email-worker-client';
import { useEffect, useRef } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { foldText } from '../thread/quotes.ts';
import { nameOf } from '../threads/rows.ts';

interface MovedOnProps {
  readonly emails: readonly NewEmail[];
  readonly onSend: () => void;
  readonly onWrite: () => void;
}

export function MovedOn({ emails, onSend, onWrite }: MovedOnProps) {
  const { text, format } = useWords();
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={panel} className="moved-on" role="alert">
      <p className="moved-on-title">{text.write.movedOn}</p>
      <ul>
        {emails.map((email) => (
          <li key={email.id} className="moved-on-email">
            <p className="moved-on-who">
              {email.direction === 'outbound' && email.author !== null
                ? text.write.answeredBy(shown(email.author))
                : text.write.wrote(nameOf(email.from_address) || text.list.noSender)}
              <time dateTime={email.date}>{format.full(email.date)}</time>
            </p>
            <p className="moved-on-text">{shown(foldText(email.preview, null).shown).trim()}</p>
          </li>
        ))}
      </ul>
      <div className="moved-on-choice">
        <p>{text.write.movedOnAsk}</p>
        <Button look="outline" onPress={onWrite}>
          {text.write.goOnWriting}
        </Button>
        <Button look="outline" onPress={onSend}>
          {text.write.sendAnyway}
        </Button>
      </div>
    </div>
  );
}
