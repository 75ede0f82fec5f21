/** Who probably wrote an email that came under an address of the company, and the other forms in which the same email arrived. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ThreadEmail } from 'email-worker-client';
import { Download, Files, UserRoundSearch } from '../../ui/icons.tsx';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { customersQuery, emailQuery, keys } from '../../api/queries.ts';
import { refreshLists } from '../../api/live.ts';
import { useMay } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { notify } from '../../ui/toast.tsx';
import { inFull } from '../threads/rows.ts';

interface EmailOriginProps {
  readonly threadId: string;
  readonly email: ThreadEmail;
}

export default function EmailOrigin({ threadId, email }: EmailOriginProps) {
  const { suggested_counterparty: suggested } = email;
  return (
    <>
      {suggested !== null && <Suggestion threadId={threadId} email={email} suggested={suggested} />}
      {email.variant_count > 0 && <Variants email={email} />}
    </>
  );
}

function Suggestion({
  threadId,
  email,
  suggested,
}: EmailOriginProps & { readonly suggested: NonNullable<ThreadEmail['suggested_counterparty']> }) {
  const { text } = useWords();
  const mayChange = useMay('handle');
  const queryClient = useQueryClient();
  const [isPending, setPending] = useState(false);
  const found = useQuery(customersQuery(suggested.address)).data ?? [];
  // Several customers with the address are not guessed at.
  const [customer] = found.length === 1 ? found : [];
  const assign = async (id: string): Promise<void> => {
    setPending(true);
    try {
      await client.threads.change(threadId, { customer_id: id });
      await queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
      refreshLists(queryClient);
    } catch {
      notify(text.thread.changeFailed);
    }
    setPending(false);
  };
  return (
    <div className="mark mark-quiet suggestion">
      <UserRoundSearch size={16} strokeWidth={1.75} aria-hidden />
      <p>{text.thread.probablyFrom(inFull(suggested))}</p>
      {customer !== undefined && email.customer_id !== customer.customer_id && (
        <>
          <p>{text.thread.probableCustomer(shown(customer.name ?? customer.customer_id))}</p>
          {mayChange && (
            <Button look="outline" isPending={isPending} onPress={() => void assign(customer.customer_id)}>
              {text.thread.assignCustomer}
            </Button>
          )}
        </>
      )}
    </div>
  );
}

function Variants({ email }: { readonly email: ThreadEmail }) {
  const { text, format } = useWords();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({ ...emailQuery(email.id), enabled: isOpen });
  return (
    <div className="variants">
      <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        <Files size={16} strokeWidth={1.75} aria-hidden />
        {text.thread.variants(format.count(email.variant_count))}
      </Button>
      {isOpen && (
        <ul>
          {(data?.variants ?? []).map(
            ({ id, received_at: at, received_by: by, size_bytes: bytes, same_content: isSame }) => (
              <li key={id}>
                <span>
                  {format.full(at)}
                  {by !== null && `, ${text.thread.variantWays[by.way]}`}
                  {by?.place ? ` (${shown(by.place)})` : ''}, {format.size(bytes)},{' '}
                  {isSame ? text.thread.variantSame : text.thread.variantDiffers}
                </span>
                <a href={`/api/emails/${email.id}/variants/${id}/raw`} download={`${id}.eml`}>
                  <Download size={14} aria-hidden />
                  {text.thread.variantDownload}
                </a>
              </li>
            ),
          )}
        </ul>
      )}
    </div>
  );
}
