/** The problems of a form: what is missing, and what the service refused, each at its field in words of the page. */
import { useState } from 'react';
import { EmailWorkerError } from 'email-worker-client';
import { hasNoAnswer, reasonOf } from '../../../api/failure.ts';
import { useAccountWords } from './account-words.ts';
import { fieldsOf, type FieldName, type LocalProblem, type Problems } from './problems.ts';

interface Shown {
  readonly fields: Problems;
  /** Of no field; null: none. */
  readonly general: string | null;
  /** Counts the times at which problems were found. */
  readonly at: number;
}

const ALL = (): boolean => true;

/** @param has the fields that the form has; what is wrong with others is shown apart */
export function useProblems(has: (field: FieldName) => boolean = ALL) {
  const { accounts, language } = useAccountWords();
  const words = accounts.problems;
  const [shown, setShown] = useState<Shown>({ fields: {}, general: null, at: 0 });
  const show = (fields: Problems, general: string | null): void =>
    setShown(({ at }) => ({ fields, general, at: at + 1 }));

  const textFor = (field: FieldName, error: EmailWorkerError): string => {
    const said = reasonOf(error, language);
    const reason = error.details === null ? said : `${said} (${error.details})`;
    switch (field) {
      case 'imapHost':
      case 'smtpHost':
        return `${words.server} ${error.details ?? said}`;
      case 'folders':
      case 'neverAddresses':
      case 'neverSubjects':
      case 'internalDomains':
      case 'addresses':
        return words[field];
      case 'clientId': {
        const [, provider] = /\b(GOOGLE|MICROSOFT)_CLIENT_ID is not set/.exec(error.details ?? '') ?? [];
        return provider === undefined
          ? reason
          : words.noClient(provider === 'GOOGLE' ? 'Google' : 'Microsoft');
      }
      default:
        return reason;
    }
  };

  return {
    ...shown,
    clear: () => setShown(({ at }) => ({ fields: {}, general: null, at })),
    /** Once a field is changed, it is not known to be wrong any more. */
    forget: (fields: readonly FieldName[]) =>
      setShown((now) => {
        if (!fields.some((field) => now.fields[field] !== undefined)) return now;
        const left = Object.entries(now.fields).filter(([name]) => !fields.includes(name as FieldName));
        return { ...now, fields: Object.fromEntries(left) as Problems };
      }),
    /** True if there is none. */
    showLocal(found: Partial<Record<FieldName, LocalProblem>>): boolean {
      const entries = Object.entries(found) as [FieldName, LocalProblem][];
      show(Object.fromEntries(entries.map(([field, kind]) => [field, words[kind]])), null);
      return entries.length === 0;
    },
    /** Returns the fields that the service named. */
    showError(error: unknown): readonly FieldName[] {
      if (!(error instanceof EmailWorkerError)) {
        show({}, String(error));
        return [];
      }
      const fields = fieldsOf(error).filter(has);
      const general =
        fields.length > 0
          ? null
          : hasNoAnswer(error)
            ? words.noAnswer
            : [reasonOf(error, language), error.details].filter((text) => text !== null).join(' ');
      show(Object.fromEntries(fields.map((field) => [field, textFor(field, error)])), general);
      return fields;
    },
  };
}
