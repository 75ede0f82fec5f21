/** The link with which the owner of a mailbox, who may be another person than the operator, allows the access to it. */
import { useState } from 'react';
import { client } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy-text.ts';
import { notify } from '../../../ui/toast.tsx';
import { useOperateWords } from '../operate-words.ts';
import { useAct } from '../use-act.ts';

interface ConsentProps {
  readonly id: string;
  /** A link that was made already; default: none. */
  readonly made?: string | null;
  /** False: the link is shown, and no button for one. */
  readonly mayAsk: boolean;
}

export function Consent({ id, made = null, mayAsk }: ConsentProps) {
  const { operate } = useOperateWords();
  const words = operate.accounts;
  const [link, setLink] = useState(made);
  const ask = useAct({
    view: 'accounts',
    run: () => client.accounts.requestConsent(id),
    say: ({ url }) => {
      setLink(url);
      return null;
    },
  });
  const copy = async (text: string): Promise<void> => {
    notify((await copyText(text)) ? words.copied : operate.notCopied);
  };
  return (
    <>
      <p className="card-warning">
        {words.consentNeeded}
        {link !== null && ` ${words.consentHint}`}
      </p>
      {mayAsk && (
        <div className="card-actions">
          {link !== null && (
            <>
              <a className="button button-primary" href={link} target="_blank" rel="noopener noreferrer">
                {words.openConsent}
              </a>
              <Button look="outline" onPress={() => void copy(link)}>
                {words.copyLink}
              </Button>
            </>
          )}
          <Button
            look={link === null ? 'outline' : 'plain'}
            isPending={ask.isPending}
            onPress={() => ask.mutate(undefined)}
          >
            {link === null ? words.askConsent : words.newLink}
          </Button>
        </div>
      )}
    </>
  );
}
