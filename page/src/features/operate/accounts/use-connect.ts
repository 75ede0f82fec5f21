/** The steps of connecting a mailbox: what was typed, what the service found, and what comes next. */
import { useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Account, AccountCheck, FoundSettings } from 'email-worker-client';
import { client } from '../../../api/client.ts';
import { codeOf } from '../../../api/failure.ts';
import { accountsQuery } from '../../../api/queries.ts';
import { withShown } from './capture-form.ts';
import { fieldToCorrect, toSteps } from './findings.ts';
import {
  NEW_MAILBOX,
  toRequest,
  withAddress,
  withCandidate,
  type Candidate,
  type MailboxForm,
} from './mailbox-form.ts';
import { CAPTURE_FIELDS, localProblems, type FieldName } from './problems.ts';
import { useAccountsChanged } from './use-accounts-changed.ts';
import { useProblems } from './use-problems.ts';

export const STEPS = ['address', 'server', 'check', 'capture', 'done'] as const;
export type StepName = (typeof STEPS)[number];

const STEP_OF: Partial<Record<FieldName, StepName>> = { address: 'address', name: 'address', id: 'capture' };
const stepOf = (field: FieldName): StepName =>
  STEP_OF[field] ?? (CAPTURE_FIELDS.has(field) ? 'capture' : 'server');

export interface Connected {
  readonly account: Account;
  /** null: none is needed, or it could not be made. */
  readonly consentUrl: string | null;
}

export function useConnect() {
  const accountsChanged = useAccountsChanged();
  const [form, setForm] = useState(NEW_MAILBOX);
  const [step, setStep] = useState<StepName>('address');
  /** Where the focus goes in the step that is shown; null: to its first field. */
  const [focusOn, setFocusOn] = useState<FieldName | null>(null);
  const [found, setFound] = useState<FoundSettings | null>(null);
  const [candidate, setCandidate] = useState<Candidate | null>(null);
  const [sendsMessage, setSendsMessage] = useState(false);
  /** The id under which mail of an earlier account is recorded; null: none is known. */
  const [usedId, setUsedId] = useState<string | null>(null);
  const [adopts, setAdopts] = useState(false);
  const hasMail = usedId !== null && usedId === form.id.trim();
  /** Of that id alone: what is recorded under another one was not asked about. */
  const adoptsMail = hasMail && adopts;
  const problems = useProblems();
  const known = useQuery(accountsQuery).data ?? [];
  const taken = new Set(known.map(({ id }) => id));

  const go = (next: StepName, field: FieldName | null = null): void => {
    setFocusOn(field);
    setStep(next);
  };
  /** Shows an error at its field, in the step that has it. */
  const fail = (error: unknown): void => {
    const [first] = problems.showError(error);
    if (first !== undefined) go(stepOf(first), first);
  };

  // Passwords are not left in the cache of what was sent.
  const find = useMutation({
    mutationFn: (address: string) => client.accounts.findSettings(address),
    gcTime: 0,
  });
  const take = (settings: FoundSettings | null): void => {
    const first = settings?.candidates[0] ?? null;
    setFound(settings);
    setCandidate(first);
    // Servers that were found for another address are not those of this one, and would get its password.
    if (first !== null || candidate !== null) setForm((now) => withCandidate(now, first));
    go('server');
  };
  // Callbacks of the call end with a further change, those of a mutation would not: what was found is then about another address.
  const lookUp = (): void =>
    find.mutate(form.address.trim(), {
      onSuccess: take,
      onError(error) {
        if (problems.showError(error).length === 0) take(null);
      },
    });

  const check = useMutation({
    mutationFn: ({ form, sends }: { readonly form: MailboxForm; readonly sends: boolean }) =>
      client.accounts.check(toRequest({ ...form, capture: NEW_MAILBOX.capture }), { sendMessage: sends }),
    gcTime: 0,
    onMutate: () => problems.clear(),
  });
  const result: AccountCheck | null = check.data ?? null;
  const runCheck = (sends: boolean): void => check.mutate({ form, sends }, { onError: fail });

  const create = useMutation({
    mutationFn: async (id: string): Promise<Connected> => {
      const capture = withShown(form.capture, result?.folders ?? []);
      const options = adoptsMail ? { adopt_mail: true } : {};
      const account = await client.accounts.create({ ...toRequest({ ...form, capture }), id }, options);
      const needsConsent = account.settings?.oauth2 !== null && account.reconnect;
      // The account exists: without a link now, the last step asks for one.
      const consentUrl = needsConsent
        ? await client.accounts.requestConsent(account.id).then(
            ({ url }) => url,
            () => null,
          )
        : null;
      return { account, consentUrl };
    },
    gcTime: 0,
    onMutate: () => problems.clear(),
    onSuccess() {
      // The last step may stay open for long, and needs no password.
      setForm(NEW_MAILBOX);
      check.reset();
      go('done');
    },
    onError(error, id) {
      if (codeOf(error) === 'account_has_mail') setUsedId(id);
      fail(error);
    },
    onSettled: accountsChanged,
  });

  /** What was found is about other servers. */
  const forgetCheck = (): void => check.reset();

  return {
    form,
    step,
    focusOn,
    found,
    candidate,
    problems,
    sendsMessage,
    hasMail,
    adoptsMail,
    check: result,
    /** A check was made, or could not be made. */
    isChecked: check.isSuccess || check.isError,
    connected: create.data ?? null,
    isBusy: find.isPending || check.isPending || create.isPending,
    setSendsMessage,
    setAdoptsMail: setAdopts,
    setAddress(address: string) {
      problems.forget(['address']);
      find.reset();
      setFound(null);
      forgetCheck();
      setForm((now) => withAddress(now, address, taken));
    },
    /** @param fields the fields of the form that this changes */
    set(change: Partial<MailboxForm>, fields: readonly FieldName[] = Object.keys(change) as FieldName[]) {
      problems.forget(fields);
      if (Object.keys(change).some((name) => name !== 'capture' && name !== 'id' && name !== 'name'))
        forgetCheck();
      setForm((now) => ({ ...now, ...change }));
    },
    choose(next: Candidate | null) {
      problems.clear();
      forgetCheck();
      setCandidate(next);
      if (next !== null) setForm((now) => withCandidate(now, next));
    },
    byHand() {
      if (!problems.showLocal(form.address.trim() === '' ? { address: 'needed' } : {})) return;
      setCandidate(null);
      go('server');
    },
    checkAgain: () => runCheck(sendsMessage),
    back() {
      problems.clear();
      go(STEPS[STEPS.indexOf(step) - 1] ?? 'address');
    },
    /** From a failed check to what it was about. */
    correct() {
      const field = result === null ? null : fieldToCorrect(toSteps(result.findings));
      go('server', field === 'smtpPassword' && form.smtpLogIn === 'same' ? 'password' : field);
    },
    submit() {
      switch (step) {
        case 'address':
          if (!problems.showLocal(form.address.trim() === '' ? { address: 'needed' } : {})) return;
          // Going back and forth asks nothing again.
          if (found === null) lookUp();
          else go('server');
          return;
        case 'server':
          if (!problems.showLocal(localProblems(form))) return;
          go('check');
          if (result === null) runCheck(sendsMessage);
          return;
        case 'check':
          go('capture');
          return;
        case 'capture':
          if (problems.showLocal(form.id.trim() === '' ? { id: 'needed' } : {}))
            create.mutate(form.id.trim());
          return;
        case 'done':
      }
    },
  };
}

export type Connect = ReturnType<typeof useConnect>;
