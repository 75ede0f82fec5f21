/** Who probably wrote an email that came under an address of the company, and the other forms in which the same email arrived. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ThreadEmail } from 'email-worker-client';
import { Download, Files, UserRoundSearch } from 'lucide-react';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { customersQuery, emailQuery, keys } from '../../api/queries.ts';
import { refreshLists } from '../../api/live.ts';
import { useMay } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { notify } from '../../ui/toast.tsx';

interface EmailOriginProps {
  readonly threadId: string;
  readonly email: ThreadEmail;
}

export default function EmailOrigin({ threadId, email }: EmailOriginProps) {
  return (
    <>
      {email.suggested_counterparty !== null && <Suggestion threadId={threadId} email={email} />}
      {email.variant_count > 0 && <Variants email={email} />}
    </>
  );
}

function Suggestion({ threadId, email }: EmailOriginProps) {
  const { text } = useWords();
  const mayChange = useMay('handle');
  const queryClient = useQueryClient();
  const [isPending, setPending] = useState(false);
  const { name = '', address = '' } = email.suggested_counterparty ?? {};
  const found = useQuery(customersQuery(address)).data ?? [];
  // Several customers with the address are not guessed at.
  const [customer] = found.length === 1 ? found : [];
  const person = shown(name === '' ? address : `${name} <${address}>`);
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
      <p>{text.thread.probablyFrom(person)}</p>
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
