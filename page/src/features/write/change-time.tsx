/** Changes the time of a waiting email, or takes it back. */
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { refreshLists } from '../../api/live.ts';
import { keys } from '../../api/queries.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/toast.tsx';
import { SendLater } from './send-later.tsx';

interface ChangeTimeProps {
  readonly emailId: string;
}

export default function ChangeTime({ emailId }: ChangeTimeProps) {
  const { text, format } = useWords();
  const queryClient = useQueryClient();
  const act = async (change: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await change();
      notify(done);
    } catch {
      notify(text.write.tooLate);
    }
    refreshLists(queryClient);
    await queryClient.invalidateQueries({ queryKey: keys.threads });
  };
  const move = async (at: Date): Promise<void> => {
    const { send_version: version } = await client.emails.get(emailId);
    await client.emails.change(emailId, version ?? 0, { send_at: at.toISOString() });
  };
  return (
    <div className="message-acts">
      <SendLater
        label={text.write.changeTime}
        isNamed
        onChoose={(at) => void act(() => move(at), text.thread.scheduled(format.full(at.toISOString())))}
      />
      <Button
        look="outline"
        onPress={() => void act(() => client.emails.cancel(emailId), text.write.takenBack)}
      >
        {text.write.takeBack}
      </Button>
    </div>
  );
}
