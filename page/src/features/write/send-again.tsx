/** Sends an email that failed once more, to the recipients who did not get it. */
import { useQueryClient } from '@tanstack/react-query';
import { EmailWorkerError } from 'email-worker-client';
import { RotateCw } from '../../ui/icons.tsx';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { refreshLists } from '../../api/live.ts';
import { keys } from '../../api/queries.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/toast.tsx';

interface SendAgainProps {
  readonly emailId: string;
}

export function SendAgain({ emailId }: SendAgainProps) {
  const { text } = useWords();
  const queryClient = useQueryClient();
  const [isPending, setPending] = useState(false);
  const send = async (): Promise<void> => {
    setPending(true);
    try {
      await client.emails.retry(emailId);
      notify(text.write.sendingAgain);
    } catch (error) {
      // Another person or window was faster: the present state is shown.
      const isLate = error instanceof EmailWorkerError && error.code === 'not_retryable';
      notify(isLate ? text.write.notFailed : text.thread.changeFailed);
    }
    setPending(false);
    refreshLists(queryClient);
    await queryClient.invalidateQueries({ queryKey: keys.threads });
  };
  return (
    <Button look="outline" isPending={isPending} onPress={() => void send()}>
      <RotateCw size={16} aria-hidden />
      {text.write.sendAgain}
    </Button>
  );
}
