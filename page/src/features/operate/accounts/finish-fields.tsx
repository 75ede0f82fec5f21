/** The last things that are asked before an account is created: its short name, which is for ever. */
import { useAccountWords } from './account-words.ts';
import { Field, SwitchField } from './form-field.tsx';
import type { Problems } from './problems.ts';

interface FinishFieldsProps {
  readonly id: string;
  readonly problems: Problems;
  /** Mail of an earlier account is recorded under the id. */
  readonly hasMail: boolean;
  readonly adoptsMail: boolean;
  readonly onId: (id: string) => void;
  readonly onAdoptsMail: (isOn: boolean) => void;
}

const MAX_ID_CHARS = 63;

export function FinishFields({ id, problems, hasMail, adoptsMail, onId, onAdoptsMail }: FinishFieldsProps) {
  const { finish: words } = useAccountWords().accounts;
  return (
    <>
      <Field
        name="id"
        label={words.id}
        hint={words.idHint}
        isRequired
        maxLength={MAX_ID_CHARS}
        value={id}
        onChange={onId}
        problem={problems.id}
      />
      {hasMail && (
        <SwitchField isSelected={adoptsMail} onChange={onAdoptsMail}>
          {words.adopt}
        </SwitchField>
      )}
    </>
  );
}
