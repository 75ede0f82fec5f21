/** What rules would leave out of what is recorded: counts, and some of the emails. */
import type { LeftOutCounts, StayingCounts } from 'email-worker-client';
import { useAccountWords } from './account-words.ts';
import { Refusal } from './refusal.tsx';
import { EXAMPLES, type PreviewState } from './use-preview.ts';

export function PastPreview({ sums, isComplete, error }: PreviewState) {
  const { accounts, format } = useAccountWords();
  const words = accounts.past;
  const entries = <Name extends string>(counts: Readonly<Record<Name, number>>) =>
    (Object.entries<number>(counts) as [Name, number][]).filter(([, count]) => count > 0);
  return (
    <div className="past">
      <p role="status" className="step-note">
        {sums === null || !isComplete
          ? words.judging(format.count(sums?.judged ?? 0))
          : sums.removable === 0
            ? words.nothing(format.count(sums.judged))
            : words.result(
                format.count(sums.removable),
                format.size(sums.removable_bytes),
                sums.emptied_threads,
              )}
      </p>
      <Refusal error={error} />
      {sums !== null && (
        <table className="past-counts">
          <caption>{words.counts}</caption>
          <tbody>
            <Row title={words.kept} count={sums.kept} />
            <Row title={words.notFromMailbox} count={sums.not_from_mailbox} />
            {sums.unknown > 0 && <Row title={words.unknown} count={sums.unknown} />}
            {entries<keyof LeftOutCounts>(sums.left_out).map(([reason, count]) => (
              <Row key={reason} title={words.leftOut[reason]} count={count} />
            ))}
            {entries<keyof StayingCounts>(sums.staying).map(([reason, count]) => (
              <Row key={reason} title={words.staying[reason]} count={count} isPart />
            ))}
          </tbody>
          <tfoot>
            <Row title={words.removable} count={sums.removable} />
          </tfoot>
        </table>
      )}
      {sums !== null && sums.emails.length > 0 && (
        <>
          <h3 className="step-title">{words.examples}</h3>
          <ul className="past-emails">
            {sums.emails.map(({ id, date, from_address: from, subject, reason, stays }) => (
              <li key={id}>
                <span className="truncate">{subject || words.noSubject}</span>
                <span className="card-figures">
                  {from.name || from.address} · {format.day(date)}
                </span>
                <span className="card-figures">
                  {stays === null ? words.leftOut[reason] : words.staying[stays]}
                </span>
              </li>
            ))}
          </ul>
          {sums.emails.length === EXAMPLES && <p className="field-hint">{words.more}</p>}
        </>
      )}
    </div>
  );
}

function Row({
  title,
  count,
  isPart = false,
}: {
  readonly title: string;
  readonly count: number;
  readonly isPart?: boolean;
}) {
  const { format } = useAccountWords();
  return (
    <tr data-is-part={isPart || undefined}>
      <th scope="row">{title}</th>
      <td>{format.count(count)}</td>
    </tr>
  );
}
