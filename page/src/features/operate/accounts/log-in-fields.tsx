/** User and password, for reading and for sending. */
import { useAccountWords } from './account-words.ts';
import { ChoiceField, Field } from './form-field.tsx';
import type { LogInForm, SmtpChoice } from './log-in-form.ts';
import type { Problems } from './problems.ts';

interface UserFieldsProps {
  readonly form: Pick<LogInForm<SmtpChoice>, 'user' | 'password'>;
  readonly problems: Problems;
  readonly hint?: string;
  readonly onChange: (change: Partial<Pick<LogInForm<SmtpChoice>, 'user' | 'password'>>) => void;
}

export function UserFields({ form, problems, hint, onChange }: UserFieldsProps) {
  const { server: words } = useAccountWords().accounts;
  return (
    <div className="field-pair">
      <Field
        name="user"
        label={words.user}
        hint={hint ?? words.userHint}
        isRequired
        value={form.user}
        onChange={(user) => onChange({ user })}
        problem={problems.user}
      />
      <Field
        name="password"
        type="password"
        label={words.password}
        hint={words.passwordHint}
        isRequired
        value={form.password}
        onChange={(password) => onChange({ password })}
        problem={problems.password}
      />
    </div>
  );
}

interface SmtpLogInFieldsProps<Choice extends SmtpChoice> {
  readonly form: LogInForm<Choice>;
  /** True: no mailbox is read, so there is no other log-in. */
  readonly isAlone: boolean;
  readonly choices: readonly Choice[];
  readonly problems: Problems;
  readonly onChange: (change: Partial<LogInForm<Choice>>) => void;
}

export function SmtpLogInFields<Choice extends SmtpChoice>({
  form,
  isAlone,
  choices,
  problems,
  onChange,
}: SmtpLogInFieldsProps<Choice>) {
  const { server: words } = useAccountWords().accounts;
  return (
    <>
      <ChoiceField
        label={words.smtpLogIn}
        value={form.smtpLogIn}
        options={choices.map(
          (choice) =>
            [choice, isAlone && choice === 'same' ? words.smtpLogInAlone : words.smtpLogIns[choice]] as const,
        )}
        onChange={(smtpLogIn) => onChange({ smtpLogIn })}
      />
      {form.smtpLogIn === 'own' && (
        <div className="field-pair">
          <Field
            name="smtpUser"
            label={words.smtpUser}
            isRequired
            value={form.smtpUser}
            onChange={(smtpUser) => onChange({ smtpUser })}
            problem={problems.smtpUser}
          />
          <Field
            name="smtpPassword"
            type="password"
            label={words.smtpPassword}
            isRequired
            value={form.smtpPassword}
            onChange={(smtpPassword) => onChange({ smtpPassword })}
            problem={problems.smtpPassword}
          />
        </div>
      )}
    </>
  );
}
