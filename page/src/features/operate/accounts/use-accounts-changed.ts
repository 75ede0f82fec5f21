/** Reloads what shows accounts, after one was created, changed or deleted, or may have been. */
import { useQueryClient } from '@tanstack/react-query';
import { keys } from '../../../api/queries.ts';

export function useAccountsChanged(): () => void {
  const queryClient = useQueryClient();
  return () => {
    for (const queryKey of [['operate', 'accounts'], keys.accounts, keys.folders])
      void queryClient.invalidateQueries({ queryKey });
  };
}
