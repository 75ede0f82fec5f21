/** What the service will put below the text, as it will look: the signature, which can be left out, and the footer, which can't. */
import { useId } from 'react';
import { useSession } from '../../app/session.tsx';
import { Lock } from '../../ui/icons.tsx';
import { shown } from '../../ui/shown.ts';
import { fillSignature, type ClosingText } from './closing.ts';
import { HtmlPreview } from './html-preview.tsx';
import { useSendAsWords } from './send-as-words.ts';
import type { ChosenSender } from './senders.ts';
import type { WriterFields } from './writer-fields.ts';
import './send-as.css';

interface ClosingPartsProps {
  readonly from: ChosenSender | null;
  /** True: the message is formatted, and so is what stands below it. */
  readonly isRich: boolean;
  readonly isSigned: boolean;
  readonly isInThread: boolean;
  /** False: a program's draft leaves the footer out, which takes the right to do so. */
  readonly hasFooter: boolean;
  readonly onChange: (changed: Pick<WriterFields, 'signature'>) => void;
}

export function ClosingParts({ from, isRich, isSigned, isInThread, hasFooter, onChange }: ClosingPartsProps) {
  const { sendAs } = useSendAsWords();
  const { key_id: keyId, name } = useSession();
  const id = useId();
  const sender = from?.sender ?? null;
  if (from === null || sender === null) return null;
  const signature =
    sender.signature &&
    fillSignature(sender.signature, {
      // The service knows no name behind its secret.
      author: { name: keyId === null ? '' : name },
      account: { id: sender.accountId, name: from.name, address: from.address },
    });
  const footer = hasFooter ? sender.footer : null;
  if (signature === null && footer === null) return null;
  return (
    <div className="closing" role="group" aria-label={sendAs.closing}>
      {signature !== null && (
        <div>
          <label className="closing-line">
            <input
              type="checkbox"
              checked={isSigned}
              onChange={({ target }) => onChange({ signature: target.checked })}
            />
            {sendAs.signature}
          </label>
          {isSigned && <Preview label={sendAs.signatureShown} part={signature} isRich={isRich} />}
          {isSigned && !signature.isFilled && <p className="closing-note">{sendAs.isFilledIn}</p>}
        </div>
      )}
      {footer !== null && (
        <div>
          <p className="closing-line" id={id}>
            <Lock size={14} aria-hidden />
            <span>
              {sendAs.footer}{' '}
              <span className="closing-note">
                {footer.oncePerThread && isInThread ? sendAs.footerOnce : sendAs.footerAdded}
              </span>
            </span>
          </p>
          <Preview label={sendAs.footerShown} part={footer} isRich={isRich} />
        </div>
      )}
    </div>
  );
}

interface PreviewProps {
  readonly label: string;
  readonly part: ClosingText;
  readonly isRich: boolean;
}

function Preview({ label, part: { text, html }, isRich }: PreviewProps) {
  return (
    // The keyboard must reach an element that scrolls, too.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className="closing-preview" aria-label={label} tabIndex={0}>
      {isRich && html !== null ? <HtmlPreview html={html} title={label} /> : shown(text.trim())}
    </section>
  );
}
