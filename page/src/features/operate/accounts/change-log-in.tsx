/** Repairs an account: a new password, or other servers, which are checked before they are saved. */
import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { Account, AccountSettings } from 'email-worker-client';
import { useSession } from '../../../app/session.tsx';
import { client } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { notify } from '../../../ui/toast.tsx';
import { AccountDialog, DialogActions } from './account-dialog.tsx';
import { useAccountWords } from './account-words.ts';
import { CheckSteps } from './check-steps.tsx';
import { ConflictNote } from './conflict-note.tsx';
import { GeneralProblem, StepForm, Submit } from './form-field.tsx';
import { SmtpLogInFields, UserFields } from './log-in-fields.tsx';
import {
  hasOtherServers,
  readServers,
  serverProblems,
  smtpChoices,
  toCheck,
  toServers,
  type ServersForm,
} from './log-in-form.ts';
import { usesUser, type FieldName } from './problems.ts';
import { ServerFields } from './server-fields.tsx';
import { useProblems } from './use-problems.ts';
import { useSaveAccount } from './use-save-account.ts';

interface ChangeLogInProps {
  readonly account: Account;
  readonly settings: AccountSettings;
  readonly onClose: () => void;
}

const HAS: ReadonlySet<FieldName> = new Set([
  'imapHost',
  'imapPort',
  'smtpHost',
  'smtpPort',
  'user',
  'password',
  'smtpUser',
  'smtpPassword',
]);

export function ChangeLogIn({ account, settings, onClose }: ChangeLogInProps) {
  const { accounts } = useAccountWords();
  const words = accounts.logIn;
  // The service checks nothing for a key that is limited to accounts.
  const mayCheck = useSession().accounts === null;
  const [opened] = useState(() => readServers(account, settings));
  const [form, setForm] = useState(opened);
  const problems = useProblems((field) => HAS.has(field));
  const { conflict, isPending, save } = useSaveAccount<'servers'>(account, {
    onSaved() {
      notify(words.saved);
      onClose();
    },
    onError: (error) => void problems.showError(error),
  });
  const saveNow = (): void =>
    save({
      requestFor: () => toServers(form),
      conflictsWith: (seen, latest) => (hasOtherServers(seen, latest) ? ['servers'] : []),
    });
  const check = useMutation({
    mutationFn: () => client.accounts.check(toCheck(form, account.id, settings)),
    gcTime: 0,
  });
  // Callbacks of this call, which end with the dialog and with a further change: what was cancelled meanwhile is not saved.
  const checkAndSave = (): void =>
    check.mutate(undefined, {
      onSuccess({ findings }) {
        // The domain is no part of what is changed here.
        if (findings.every(({ step, grade }) => step === 'dns' || grade !== 'problem')) saveNow();
      },
      onError: (error) => void problems.showError(error),
    });
  const set = (change: Partial<ServersForm>, fields: readonly FieldName[]): void => {
    problems.forget(fields);
    check.reset();
    setForm({ ...form, ...change });
  };
  const submit = (): void => {
    if (check.isPending || isPending || !problems.showLocal(serverProblems(form))) return;
    if (!mayCheck || check.data?.ok === true) saveNow();
    else checkAndSave();
  };
  const choices = smtpChoices(settings);
  const isBusy = check.isPending || isPending;
  const failed = check.data?.ok === false ? check.data : null;
  return (
    <AccountDialog title={words.title} isUntouched={form === opened} onClose={onClose}>
      <StepForm focusOn="password" problemsAt={problems.at} onSubmit={submit}>
        <p className="step-lead">{words.lead(account.from_address?.address ?? account.id)}</p>
        {usesUser({ ...form, logIn: 'password' }) && (
          <UserFields
            form={form}
            problems={problems.fields}
            hint={words.userHint}
            onChange={(change) => set(change, Object.keys(change) as FieldName[])}
          />
        )}
        {choices.length > 0 && (
          <SmtpLogInFields
            form={form}
            isAlone={form.imap.host.trim() === ''}
            choices={choices}
            problems={problems.fields}
            onChange={(change) => set(change, Object.keys(change) as FieldName[])}
          />
        )}
        <details className="step-fold">
          <summary>{accounts.server.change}</summary>
          <ServerFields
            scheme="imap"
            server={form.imap}
            problems={problems.fields}
            onChange={(imap) => set({ imap }, ['imapHost', 'imapPort'])}
          />
          {form.smtpLogIn !== 'keep' && (
            <ServerFields
              scheme="smtp"
              server={form.smtp}
              problems={problems.fields}
              onChange={(smtp) => set({ smtp }, ['smtpHost', 'smtpPort'])}
            />
          )}
        </details>
        <p className="step-status" role="status">
          {check.isPending && accounts.check.running}
          {failed !== null && <strong data-grade="problem">{accounts.check.fails}</strong>}
        </p>
        {failed !== null && <CheckSteps findings={failed.findings.filter(({ step }) => step !== 'dns')} />}
        <GeneralProblem text={problems.general} />
        {conflict !== null && <ConflictNote fields={conflict.fields} latest={conflict.latest} />}
        <DialogActions onCancel={onClose}>
          {failed !== null && (
            <Button look="outline" onPress={() => !isPending && saveNow()}>
              {words.saveAnyway}
            </Button>
          )}
          <Submit isBusy={isBusy}>
            {conflict !== null ? accounts.conflict.overwrite : mayCheck ? words.check : accounts.edit.save}
          </Submit>
        </DialogActions>
      </StepForm>
    </AccountDialog>
  );
}
