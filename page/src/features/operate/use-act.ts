/** Runs an operator's action: afterwards the view is reloaded, and a refusal is shown in the service's words. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { EmailWorkerError } from 'email-worker-client';
import { keys } from '../../api/queries.ts';
import { notify } from '../../ui/toast.tsx';
import { useOperateWords } from './operate-words.ts';

interface Act<Input, Output> {
  /** The key of the view that is reloaded. */
  readonly view: string;
  readonly run: (input: Input) => Promise<Output>;
  /** The message after success; null: none. */
  readonly say?: (output: Output, input: Input) => string | null;
}

export function useAct<Input, Output>({ view, run, say }: Act<Input, Output>) {
  const queryClient = useQueryClient();
  const { operate } = useOperateWords();
  return useMutation({
    mutationFn: run,
    onSuccess: (output, input) => {
      const words = say === undefined ? operate.done : say(output, input);
      if (words !== null) notify(words);
    },
    onError: (error) => {
      notify(operate.failed(error instanceof EmailWorkerError ? error.message : String(error)));
    },
    // Also after a refusal: the data on screen was old.
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: ['operate', view] });
      void queryClient.invalidateQueries({ queryKey: keys.folders });
    },
  });
}
