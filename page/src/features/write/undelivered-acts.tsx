/** What a person can do about an email that was not delivered. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ThreadEmail } from 'email-worker-client';
import { Check, PenLine } from '../../ui/icons.tsx';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { refreshLists } from '../../api/live.ts';
import { accountsQuery, keys } from '../../api/queries.ts';
import { draftLink } from '../../app/links.ts';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/toast.tsx';
import { SendAgain } from './send-again.tsx';
import { sentAs } from './sent-as.ts';
import { sendersOf } from './senders.ts';

interface UndeliveredActsProps {
  readonly threadId: string;
  readonly email: ThreadEmail;
}

export default function UndeliveredActs({ threadId, email }: UndeliveredActsProps) {
  const { text } = useWords();
  const { name, key_id: keyId } = useSession();
  const mayDraft = useMay('draft');
  const maySend = useMay('send');
  const mayChange = useMay('handle');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isPending, setPending] = useState(false);

  const act = async (work: () => Promise<void>): Promise<void> => {
    setPending(true);
    try {
      await work();
    } catch {
      notify(text.thread.changeFailed);
    }
    setPending(false);
    refreshLists(queryClient);
    await queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
  };
  const correct = () =>
    act(async () => {
      const [whole, accounts] = await Promise.all([
        // The thread's page has no HTML.
        client.emails.get(email.id),
        queryClient.fetchQuery(accountsQuery),
      ]);
      const draft = await client.drafts.create({
        author: name,
        message: {
          account_id: whole.account_id,
          thread_id: threadId,
          to: missed(email).join(', '),
          subject: whole.subject,
          ...sentAs(whole, sendersOf(accounts), keyId === null ? '' : name),
        },
        attachments: whole.email_attachments.map(({ id, filename, content_id: contentId }) => ({
          attachment_id: id,
          filename,
          ...(contentId === null ? {} : { content_id: contentId }),
        })),
      });
      await navigate(draftLink(draft.id));
    });
  const settle = () =>
    act(async () => {
      await client.threads.change(threadId, { undelivered: false });
      notify(text.write.settled);
    });
  return (
    <div className="message-acts">
      {mayDraft && (
        <Button look="outline" isPending={isPending} onPress={() => void correct()}>
          <PenLine size={16} aria-hidden />
          {text.write.correct}
        </Button>
      )}
      {maySend && email.state === 'failed' && <SendAgain emailId={email.id} />}
      {mayChange && email.undelivered !== null && (
        <Button look="outline" isPending={isPending} onPress={() => void settle()}>
          <Check size={16} aria-hidden />
          {text.write.settle}
        </Button>
      )}
    </div>
  );
}

/** The recipients that did not get it; all where that is not known. */
function missed({ recipients, to_addresses: to }: ThreadEmail): readonly string[] {
  const found = recipients.filter(
    ({ state, report }) =>
      state === 'rejected' ||
      (report !== null && report.outcome !== 'delivered' && report.outcome !== 'complained'),
  );
  return (found.length > 0 ? found : to).map(({ address }) => address);
}
