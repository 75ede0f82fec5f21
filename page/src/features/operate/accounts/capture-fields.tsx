/** What of a mailbox is recorded, and what is left out. */
import { useAccountWords } from './account-words.ts';
import { sortFolders, type CaptureForm } from './capture-form.ts';
import { Field, SwitchField } from './form-field.tsx';
import type { Problems } from './problems.ts';

interface FolderOnServer {
  readonly path: string;
  readonly special_use: string | null;
}

interface CaptureFieldsProps {
  readonly capture: CaptureForm;
  /** Those of the server; empty: they are not known. */
  readonly folders: readonly FolderOnServer[];
  readonly problems: Problems;
  readonly onChange: (change: Partial<CaptureForm>) => void;
}

const LINES = 3;

export function CaptureFields({ capture, folders, problems, onChange }: CaptureFieldsProps) {
  const { capture: words } = useAccountWords().accounts;
  return (
    <>
      <Folders capture={capture} folders={folders} problems={problems} onChange={onChange} />
      <fieldset className="option-set">
        <legend className="field-label">{words.left}</legend>
        <SwitchField
          isSelected={capture.leavesOutPrivate}
          onChange={(leavesOutPrivate) => onChange({ leavesOutPrivate })}
        >
          {words.leavesOutPrivate}
        </SwitchField>
        <SwitchField
          isSelected={capture.leavesOutInternal}
          onChange={(leavesOutInternal) => onChange({ leavesOutInternal })}
        >
          {words.leavesOutInternal}
        </SwitchField>
        {capture.leavesOutInternal && (
          <div className="option-inset">
            <Field
              name="internalDomains"
              label={words.internalDomains}
              hint={words.internalDomainsHint}
              lines={2}
              value={capture.internalDomains}
              onChange={(internalDomains) => onChange({ internalDomains })}
              problem={problems.internalDomains}
            />
          </div>
        )}
        <SwitchField
          isSelected={capture.onlyCustomers}
          onChange={(onlyCustomers) => onChange({ onlyCustomers })}
        >
          {words.onlyCustomers}
          <span className="field-hint">{words.onlyCustomersHint}</span>
        </SwitchField>
        {problems.captureSwitches !== undefined && <p className="field-error">{problems.captureSwitches}</p>}
      </fieldset>
      <Field
        name="neverAddresses"
        label={words.neverAddresses}
        hint={words.neverAddressesHint}
        lines={LINES}
        value={capture.neverAddresses}
        onChange={(neverAddresses) => onChange({ neverAddresses })}
        problem={problems.neverAddresses}
      />
      <Field
        name="neverSubjects"
        label={words.neverSubjects}
        hint={words.neverSubjectsHint}
        lines={2}
        value={capture.neverSubjects}
        onChange={(neverSubjects) => onChange({ neverSubjects })}
        problem={problems.neverSubjects}
      />
    </>
  );
}

function Folders({ capture, folders, problems, onChange }: CaptureFieldsProps) {
  const { accounts, format } = useAccountWords();
  const words = accounts.capture;
  const { always, choice } = sortFolders(folders);
  const named = (
    <Field
      name="folders"
      label={words.otherFolders}
      hint={words.otherFoldersHint}
      lines={2}
      value={capture.otherFolders}
      onChange={(otherFolders) => onChange({ otherFolders })}
      problem={problems.folders}
    />
  );
  if (folders.length === 0) {
    return (
      <>
        <p className="step-note">{words.always}</p>
        {named}
      </>
    );
  }
  return (
    <>
      <fieldset className="option-set">
        <legend className="field-label">{words.folders}</legend>
        <p className="field-hint">{words.alwaysNamed(format.names(always.map(({ path }) => path)))}</p>
        {choice.length > 0 && (
          <div className="folder-choice">
            {choice.map(({ path, special_use: use }) => (
              <SwitchField
                key={path}
                isSelected={capture.folders.includes(path)}
                onChange={(isOn) =>
                  onChange({
                    folders: isOn
                      ? [...capture.folders, path]
                      : capture.folders.filter((one) => one !== path),
                  })
                }
              >
                {path}
                {use !== null && words.uses[use] !== undefined && words.uses[use] !== path && (
                  <span className="field-hint"> {words.uses[use]}</span>
                )}
              </SwitchField>
            ))}
          </div>
        )}
      </fieldset>
      <details className="step-fold" open={problems.folders !== undefined || capture.otherFolders !== ''}>
        <summary>{words.otherFolders}</summary>
        {named}
      </details>
    </>
  );
}
