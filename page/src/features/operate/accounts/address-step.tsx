/** The first step: which mailbox it is. */
import { Button } from '../../../ui/button.tsx';
import { useAccountWords } from './account-words.ts';
import { Field, Submit } from './form-field.tsx';
import type { MailboxForm } from './mailbox-form.ts';
import type { Problems } from './problems.ts';

interface AddressStepProps {
  readonly form: MailboxForm;
  readonly problems: Problems;
  readonly isFinding: boolean;
  readonly onAddress: (address: string) => void;
  readonly onName: (name: string) => void;
  readonly onByHand: () => void;
}

export function AddressStep({ form, problems, isFinding, onAddress, onName, onByHand }: AddressStepProps) {
  const { address: words } = useAccountWords().accounts;
  return (
    <>
      <p className="step-lead">{words.lead}</p>
      <Field
        name="address"
        type="email"
        inputMode="email"
        label={words.address}
        isRequired
        value={form.address}
        onChange={onAddress}
        problem={problems.address}
      />
      <Field name="name" label={words.name} value={form.name} onChange={onName} problem={problems.name} />
      <p className="step-status" role="status">
        {isFinding && words.finding}
      </p>
      <div className="step-actions">
        <Button onPress={onByHand} isDisabled={isFinding}>
          {words.byHand}
        </Button>
        <span className="step-space" />
        <Submit isBusy={isFinding}>{words.find}</Submit>
      </div>
    </>
  );
}
