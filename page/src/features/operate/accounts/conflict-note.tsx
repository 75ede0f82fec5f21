/** What a colleague changed while this form was open, where both changed the same. */
import type { Account } from 'email-worker-client';
import type { Conflict } from './account-change.ts';
import { useAccountWords } from './account-words.ts';

export type AnyConflict = Conflict | 'servers';

interface ConflictNoteProps {
  readonly fields: readonly AnyConflict[];
  /** The account as it is now. */
  readonly latest: Account;
}

export function ConflictNote({ fields, latest }: ConflictNoteProps) {
  const { conflict: words } = useAccountWords().accounts;
  return (
    <div className="card-warning" role="alert" ref={intoView}>
      <p>
        <strong>{words.title}</strong>
      </p>
      <p>{words.lead}</p>
      <ul className="conflict-list">
        {fields.map((field) => (
          <li key={field}>
            {words.names[field]} – {words.now(valueOf(field, latest, words))}
          </li>
        ))}
      </ul>
    </div>
  );
}

const intoView = (note: HTMLElement | null): void => note?.scrollIntoView({ block: 'center' });

function valueOf(
  field: AnyConflict,
  { settings, from_address: from }: Account,
  { nothing, yes }: { readonly nothing: string; readonly yes: string },
): string {
  switch (field) {
    case 'name':
      return from?.name || nothing;
    case 'addresses':
      return (settings?.addresses ?? []).map(({ address }) => address).join(', ') || nothing;
    case 'out_of_office':
      return settings?.out_of_office?.text ?? nothing;
    case 'servers':
      return [settings?.imap_server, settings?.smtp_server].filter(Boolean).join(', ') || nothing;
    default: {
      const value = settings?.capture?.[field] ?? null;
      if (Array.isArray(value)) return value.join(', ') || nothing;
      return value === true ? yes : nothing;
    }
  }
}
