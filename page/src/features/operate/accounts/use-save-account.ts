/**
 * Saves a change of an account. When a colleague changed it meanwhile, the change is made to what it is now, unless both changed the same
 * settings: then the operator decides, and nothing that was typed is lost.
 */
import { useRef, useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { Account, AccountChange } from 'email-worker-client';
import { client } from '../../../api/client.ts';
import { codeOf } from '../../../api/failure.ts';
import { useAccountsChanged } from './use-accounts-changed.ts';

/** Further changes at the same moment are none of people. */
const MAX_TRIES = 5;

export interface AccountEdit<Conflict> {
  /** The request for the account as it is now. */
  readonly requestFor: (latest: Account) => AccountChange;
  /** What both changed. */
  readonly conflictsWith: (seen: Account, latest: Account) => readonly Conflict[];
}

export interface FoundConflict<Conflict> {
  readonly latest: Account;
  readonly fields: readonly Conflict[];
}

interface SaveOptions {
  readonly onSaved: () => void;
  readonly onError: (error: unknown) => void;
}

export function useSaveAccount<Conflict>(opened: Account, { onSaved, onError }: SaveOptions) {
  const accountsChanged = useAccountsChanged();
  /** What the operator has seen: as the form was opened, and then as the last conflict showed it. */
  const seen = useRef(opened);
  const [conflict, setConflict] = useState<FoundConflict<Conflict> | null>(null);
  const save = useMutation({
    mutationFn: async (edit: AccountEdit<Conflict>): Promise<FoundConflict<Conflict> | null> => {
      let latest = seen.current;
      for (let attempt = 1; ; attempt += 1) {
        try {
          await client.accounts.change(opened.id, latest.version, edit.requestFor(latest));
          return null;
        } catch (error) {
          if (codeOf(error) !== 'account_changed' || attempt >= MAX_TRIES) throw error;
          latest = await client.accounts.get(opened.id);
          const fields = edit.conflictsWith(seen.current, latest);
          if (fields.length > 0) return { latest, fields };
        }
      }
    },
    // A change may have a password, which is not left in the cache of what was sent.
    gcTime: 0,
    onSuccess(found) {
      setConflict(found);
      if (found === null) onSaved();
      else seen.current = found.latest;
    },
    onError,
    onSettled: accountsChanged,
  });
  return { conflict, isPending: save.isPending, save: (edit: AccountEdit<Conflict>) => save.mutate(edit) };
}
