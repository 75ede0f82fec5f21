/** What the rules in a form would leave out of what is recorded, when the operator asks for it. */
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { useAccountWords } from './account-words.ts';
import { toCapture, type Capture, type CaptureForm } from './capture-form.ts';
import { PastPreview } from './past-preview.tsx';
import { usePreview } from './use-preview.ts';

interface Asked {
  /** As it was then. */
  readonly form: CaptureForm;
  readonly capture: Capture | null;
  /** Each question is judged anew. */
  readonly round: number;
}

export function ProposedPast({ id, capture }: { readonly id: string; readonly capture: CaptureForm }) {
  const words = useAccountWords().accounts.past;
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <div className="past">
      <div>
        <Button
          look="outline"
          onPress={() =>
            setAsked({ form: capture, capture: toCapture(capture), round: (asked?.round ?? 0) + 1 })
          }
        >
          {words.ask}
        </Button>
      </div>
      {asked === null && <p className="field-hint">{words.askHint}</p>}
      {asked !== null &&
        (asked.form === capture ? (
          <>
            <Preview key={asked.round} id={id} capture={asked.capture} />
            <p className="field-hint">{words.askSaved}</p>
          </>
        ) : (
          <p className="field-hint">{words.askAgain}</p>
        ))}
    </div>
  );
}

function Preview({ id, capture }: { readonly id: string; readonly capture: Capture | null }) {
  return <PastPreview {...usePreview(id, capture)} />;
}
