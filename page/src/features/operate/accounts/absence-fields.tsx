/** The automatic answer of an account whose people are away. */
import { useAccountWords } from './account-words.ts';
import type { AbsenceForm } from './absence-form.ts';
import { Field, SwitchField } from './form-field.tsx';
import type { Problems } from './problems.ts';

interface AbsenceFieldsProps {
  readonly absence: AbsenceForm;
  readonly problems: Problems;
  readonly onChange: (change: Partial<AbsenceForm>) => void;
}

const LINES = 5;

export function AbsenceFields({ absence, problems, onChange }: AbsenceFieldsProps) {
  const { absence: words } = useAccountWords().accounts;
  return (
    <>
      <SwitchField isSelected={absence.isOn} onChange={(isOn) => onChange({ isOn })}>
        {words.isOn}
        <span className="field-hint">{words.hint}</span>
      </SwitchField>
      {absence.isOn && (
        <div className="option-inset">
          <Field
            name="absenceText"
            label={words.text}
            lines={LINES}
            isRequired
            value={absence.text}
            onChange={(text) => onChange({ text })}
            problem={problems.absenceText}
          />
          <Field
            name="absenceFrom"
            label={words.from}
            hint={words.fromHint}
            type="datetime-local"
            value={absence.from}
            onChange={(from) => onChange({ from })}
            problem={problems.absenceFrom}
          />
          <Field
            name="absenceUntil"
            label={words.until}
            hint={words.untilHint}
            type="datetime-local"
            value={absence.until}
            onChange={(until) => onChange({ until })}
            problem={problems.absenceUntil}
          />
          <Field
            name="absenceSubject"
            label={words.subject}
            hint={words.subjectHint}
            value={absence.subject}
            onChange={(subject) => onChange({ subject })}
            problem={problems.absenceSubject}
          />
        </div>
      )}
    </>
  );
}
