/** Changes an account: the name, what else it sends as, and what is recorded. */
import { useState } from 'react';
import type { Account, AccountSettings } from 'email-worker-client';
import { notify } from '../../../ui/toast.tsx';
import {
  changeOf,
  conflictsOf,
  isEmpty,
  isIncomplete,
  toChangeRequest,
  type Change,
  type Conflict,
  type EditForm,
  type State,
} from './account-change.ts';
import { AbsenceFields } from './absence-fields.tsx';
import { isWithoutText, readAbsence } from './absence-form.ts';
import { AccountDialog, DialogActions } from './account-dialog.tsx';
import { AddressRows } from './address-rows.tsx';
import { useAccountWords } from './account-words.ts';
import { CaptureFields } from './capture-fields.tsx';
import { readCapture } from './capture-form.ts';
import { ConflictNote } from './conflict-note.tsx';
import { Field, GeneralProblem, StepForm, Submit } from './form-field.tsx';
import { domainOf } from './mailbox-form.ts';
import { ProposedPast } from './proposed-past.tsx';
import { useProblems } from './use-problems.ts';
import { ABSENCE_FIELDS, CAPTURE_FIELDS, captureFieldsOf, type FieldName } from './problems.ts';
import { useSaveAccount } from './use-save-account.ts';

interface EditAccountProps {
  readonly account: Account;
  readonly settings: AccountSettings;
  readonly onClose: () => void;
}

const HAS: ReadonlySet<FieldName> = new Set(['name', 'addresses', ...CAPTURE_FIELDS, ...ABSENCE_FIELDS]);

export function EditAccount({ account, settings, onClose }: EditAccountProps) {
  const { accounts, language } = useAccountWords();
  const words = accounts.edit;
  const address = account.from_address?.address ?? '';
  const [opened] = useState<EditForm>(() => ({
    name: account.from_address?.name ?? '',
    addresses: (settings.addresses ?? []).map((stored) => ({
      address: stored.address,
      name: stored.name ?? '',
      stored,
    })),
    capture: readCapture(settings.capture, domainOf(address)),
    absence: readAbsence(settings.out_of_office),
  }));
  const [form, setForm] = useState(opened);
  const problems = useProblems((field) => HAS.has(field));
  const set = (change: Partial<EditForm>, fields: readonly FieldName[]): void => {
    problems.forget(fields);
    setForm({ ...form, ...change });
  };
  const change: Change = changeOf(settings, opened, form, language);
  const stateOf = ({ from_address: from, settings: known }: Account): State => ({
    ...(known ?? settings),
    sender: from ?? account.from_address,
  });
  const { conflict, isPending, save } = useSaveAccount<Conflict>(account, {
    onSaved() {
      notify(change.capture === undefined ? words.saved : `${words.saved} ${words.reread}`);
      onClose();
    },
    onError: (error) => void problems.showError(error),
  });
  const submit = (): void => {
    if (isPending) return;
    const missing = {
      ...(form.addresses.some(isIncomplete) ? { addresses: 'needed' as const } : {}),
      ...(isWithoutText(form.absence) ? { absenceText: 'needed' as const } : {}),
    };
    if (!problems.showLocal(missing)) return;
    if (isEmpty(change)) {
      onClose();
      return;
    }
    save({
      requestFor: (latest) => toChangeRequest(change, stateOf(latest)),
      conflictsWith: (seen, latest) => conflictsOf(stateOf(seen), stateOf(latest), change),
    });
  };
  return (
    <AccountDialog title={words.title(address)} isUntouched={isEmpty(change)} onClose={onClose}>
      <StepForm problemsAt={problems.at} onSubmit={submit}>
        <Field
          name="name"
          label={words.name}
          value={form.name}
          onChange={(name) => set({ name }, ['name'])}
          problem={problems.fields.name}
        />
        <AddressRows
          rows={form.addresses}
          problem={problems.fields.addresses}
          onChange={(addresses) => set({ addresses }, ['addresses'])}
        />
        <h3 className="step-title">{accounts.absence.title}</h3>
        <AbsenceFields
          absence={form.absence}
          problems={problems.fields}
          onChange={(change) => set({ absence: { ...form.absence, ...change } }, [...ABSENCE_FIELDS])}
        />
        {settings.imap_server !== null && (
          <>
            <h3 className="step-title">{words.capture}</h3>
            <CaptureFields
              capture={form.capture}
              folders={[]}
              problems={problems.fields}
              onChange={(change) => set({ capture: { ...form.capture, ...change } }, captureFieldsOf(change))}
            />
            <ProposedPast id={account.id} capture={form.capture} />
          </>
        )}
        <GeneralProblem text={problems.general} />
        {conflict !== null && <ConflictNote fields={conflict.fields} latest={conflict.latest} />}
        <DialogActions onCancel={onClose}>
          <Submit isBusy={isPending}>{conflict === null ? words.save : accounts.conflict.overwrite}</Submit>
        </DialogActions>
      </StepForm>
    </AccountDialog>
  );
}
