/** Answers why an email is missing, by its Message-ID. */
import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { client } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { useAccountWords } from './account-words.ts';
import { Field, GeneralProblem, StepForm, Submit } from './form-field.tsx';
import { useProblems } from './use-problems.ts';

export function LeftOut({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { accounts, text, format } = useAccountWords();
  const words = accounts.leftOut;
  const [messageId, setMessageId] = useState('');
  const problems = useProblems(() => false);
  const search = useMutation({
    mutationFn: (sought: string) => client.accounts.leftOut({ message_id: sought, account_id: id }),
    onError: (error) => void problems.showError(error),
  });
  return (
    <AccountDialog title={words.title} isWide={false} onClose={onClose}>
      <StepForm
        problemsAt={problems.at}
        onSubmit={() => {
          problems.clear();
          if (messageId.trim() !== '') search.mutate(messageId.trim());
        }}
      >
        <Field
          name="messageId"
          label={words.field}
          hint={words.hint}
          placeholder="<4711@example.com>"
          isRequired
          value={messageId}
          onChange={(next) => {
            setMessageId(next);
            search.reset();
          }}
        />
        <div role="status">
          {search.data?.length === 0 && <p className="step-note">{words.none}</p>}
          {search.data !== undefined && search.data.length > 0 && (
            <ul className="step-note">
              {search.data.map(({ reason, mailbox, left_out_at: at }) => (
                <li key={`${mailbox} ${at}`}>
                  {words.found(words.reasons[reason], mailbox, format.full(at))}
                </li>
              ))}
            </ul>
          )}
        </div>
        <GeneralProblem text={problems.general} />
        <div className="step-actions">
          <span className="step-space" />
          <Button look="outline" onPress={onClose}>
            {text.app.close}
          </Button>
          <Submit isBusy={search.isPending}>{words.search}</Submit>
        </div>
      </StepForm>
    </AccountDialog>
  );
}
