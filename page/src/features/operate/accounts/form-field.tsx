/** The fields of the dialogs about accounts: each with its label, a hint, and what is wrong with it. */
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react';
import {
  Checkbox,
  FieldError,
  Form,
  Input,
  Label,
  Text,
  TextArea,
  TextField,
  type TextFieldProps,
} from 'react-aria-components';
import { Button } from '../../../ui/button.tsx';
import { Check } from '../../../ui/icons.tsx';
import { useAccountWords } from './account-words.ts';
import '../../../ui/field.css';
import './accounts.css';

interface FieldProps extends Pick<
  TextFieldProps,
  'value' | 'onChange' | 'type' | 'inputMode' | 'autoComplete' | 'isRequired' | 'maxLength'
> {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  /** undefined: nothing is wrong. */
  readonly problem?: string | undefined;
  /** Lines to type in; default: one. */
  readonly lines?: number;
}

/**
 * Not kept by the browser: settings of servers and passwords are of no use in other forms. For a password browsers ignore `off`, and would
 * fill in the secret with which the operator logged in here: the service would then send it to the mail server.
 */
export function Field({ name, label, hint, placeholder = '', problem, lines = 1, ...props }: FieldProps) {
  return (
    <TextField
      autoComplete={props.type === 'password' ? 'new-password' : 'off'}
      spellCheck="false"
      {...props}
      name={name}
      className="field"
      isInvalid={problem !== undefined}
      validationBehavior="aria"
    >
      <Label className="field-label">{label}</Label>
      {lines === 1 ? (
        <Input className="input" placeholder={placeholder} />
      ) : (
        <TextArea className="input" rows={lines} placeholder={placeholder} />
      )}
      {hint !== undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{problem}</FieldError>
    </TextField>
  );
}

interface ChoiceFieldProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onChange: (value: Value) => void;
}

export function ChoiceField<Value extends string>({
  label,
  value,
  options,
  onChange,
}: ChoiceFieldProps<Value>) {
  return (
    <label className="field">
      <span className="field-label">{label}</span>
      <select
        className="input"
        value={value}
        onChange={({ target }) => {
          const chosen = options.find(([one]) => one === target.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SwitchFieldProps {
  readonly isSelected: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}

export function SwitchField({ children, ...props }: SwitchFieldProps) {
  return (
    <Checkbox {...props} className="check">
      <span className="check-box" aria-hidden>
        <Check size={12} strokeWidth={3} />
      </span>
      <span className="check-text">{children}</span>
    </Checkbox>
  );
}

interface SubmitProps {
  readonly isBusy: boolean;
  readonly children: string;
}

/** Keeps the focus while the form is busy. It is often gone afterwards, which the announcements of a pending button do not survive. */
export function Submit({ isBusy, children }: SubmitProps) {
  const { accounts } = useAccountWords();
  return (
    <>
      <span className="hidden-text" role="status">
        {isBusy && accounts.busy}
      </span>
      <Button look="primary" type="submit" data-busy={isBusy ? '' : undefined}>
        {children}
      </Button>
    </>
  );
}

interface StepFormProps {
  /** The field that gets the focus at the beginning; null: the first one. */
  readonly focusOn?: string | null;
  /** Grows when the service or the form found problems: the focus moves to the first one. */
  readonly problemsAt: number;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

const FIRST_FIELD =
  'input:not([type=hidden], :disabled, [type=radio]:not(:checked)), select:not(:disabled), textarea:not(:disabled)';

export function StepForm({ focusOn = null, problemsAt, onSubmit, children }: StepFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const named = focusOn === null ? null : form.current?.querySelector<HTMLElement>(`[name="${focusOn}"]`);
    const first =
      named ??
      form.current?.querySelector<HTMLElement>('[data-step-start]') ??
      form.current?.querySelector<HTMLElement>(FIRST_FIELD);
    unfold(first ?? null);
    first?.focus();
  }, [focusOn]);
  useEffect(() => {
    if (problemsAt === 0) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid=true]') ?? null;
    unfold(wrong);
    wrong?.focus();
    // With what is wrong, which stands below it.
    wrong?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  }, [problemsAt]);
  return (
    <Form
      ref={form}
      className="step-form"
      // The form and the service judge, in words of the page.
      validationBehavior="aria"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </Form>
  );
}

/** What is wrong with no field in particular. */
export function GeneralProblem({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p className="card-alarm" role="alert">
      {text}
    </p>
  );
}

/** A field in a folded part can't get the focus. */
function unfold(field: HTMLElement | null): void {
  const folded = field?.closest('details');
  if (folded !== null && folded !== undefined) folded.open = true;
}
