/** Deletes an account. Its mail is erased only if the operator chooses so and types the name of the account. */
import { useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Label, Radio, RadioGroup } from 'react-aria-components';
import type { Account } from 'email-worker-client';
import { client } from '../../../api/client.ts';
import { codeOf } from '../../../api/failure.ts';
import { notify } from '../../../ui/toast.tsx';
import { AccountDialog, DialogActions } from './account-dialog.tsx';
import { useAccountWords } from './account-words.ts';
import { Field, StepForm, Submit } from './form-field.tsx';
import { useAccountsChanged } from './use-accounts-changed.ts';
import { useProblems } from './use-problems.ts';

export function DeleteAccount({
  account,
  onClose,
}: {
  readonly account: Account;
  readonly onClose: () => void;
}) {
  const { accounts, format } = useAccountWords();
  const words = accounts.remove;
  const accountsChanged = useAccountsChanged();
  const [erase, setErase] = useState(false);
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const problems = useProblems(() => false);
  const { id } = account;
  const { data: counted } = useQuery({
    queryKey: ['operate', 'accounts', 'counted', id],
    queryFn: ({ signal }) => client.accounts.checkDelete(id, { signal }),
    enabled: erase,
    retry: false,
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => client.accounts.delete(id, { erase }),
    onMutate: () => problems.clear(),
    onSuccess() {
      notify(erase ? words.erasing : words.removed);
      onClose();
      // The button that had the focus is about to go, and so may be its card.
      requestAnimationFrame(() => document.querySelector<HTMLElement>('#list')?.focus());
    },
    onError: (error) => void problems.showError(error),
    onSettled: accountsChanged,
  });
  const submit = (): void => {
    if (remove.isPending) return;
    const isConfirmed = !erase || typed.trim() === id;
    setWrong(!isConfirmed);
    if (isConfirmed) remove.mutate();
    else problems.showLocal({});
  };
  const emails = counted?.emails ?? null;
  return (
    <AccountDialog
      title={words.title(account.from_address?.address ?? id)}
      isWide={false}
      isUntouched={typed === ''}
      onClose={onClose}
    >
      <StepForm problemsAt={problems.at} onSubmit={submit}>
        {/* The focus is not at a choice first: there, an Enter pressed twice in the menu would delete the account. */}
        <p className="step-lead" data-step-start tabIndex={-1}>
          {words.lead}
        </p>
        <RadioGroup
          className="option-list"
          value={erase ? 'erase' : 'keep'}
          onChange={(value) => setErase(value === 'erase')}
        >
          <Label className="field-label">{words.mail}</Label>
          <Radio value="keep" className="option">
            <span className="option-title">{words.keep}</span>
            <span className="option-hint">{words.keepHint}</span>
          </Radio>
          <Radio value="erase" className="option">
            <span className="option-title">{words.erase}</span>
            <span className="option-hint">
              {emails === null ? words.counting : words.eraseHint(format.count(emails))}
            </span>
          </Radio>
        </RadioGroup>
        {erase && (
          <Field
            name="confirm"
            label={words.type(id)}
            isRequired
            value={typed}
            onChange={(text) => {
              setTyped(text);
              setWrong(false);
            }}
            problem={isWrong ? words.typeWrong : undefined}
          />
        )}
        {problems.general !== null && (
          <p className="card-alarm" role="alert">
            {codeOf(remove.error) === 'account_has_sends' ? words.hasSends : problems.general}
          </p>
        )}
        <DialogActions onCancel={onClose}>
          <Submit isBusy={remove.isPending}>{erase ? words.removeAndErase : words.remove}</Submit>
        </DialogActions>
      </StepForm>
    </AccountDialog>
  );
}
