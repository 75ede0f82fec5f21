/** Warnings, in words, that a reader should see before trusting an email. */
import type { ThreadEmail } from 'email-worker-client';
import { Bot, CircleAlert, Clock, ShieldAlert, ShieldX, UserRoundX, type LucideIcon } from 'lucide-react';
import type { Messages } from '../../i18n/en.ts';
import type { Formats } from '../../i18n/format.ts';
import { useWords } from '../../i18n/index.tsx';

type Tone = 'quiet' | 'warn' | 'bad';

interface Mark {
  readonly key: string;
  readonly icon: LucideIcon;
  readonly tone: Tone;
  readonly words: string;
}

/** Most emails have no marks. */
function marksOf(email: ThreadEmail, text: Messages, format: Formats): readonly Mark[] {
  const marks: Mark[] = [];
  if (email.new_participant)
    marks.push({ key: 'stranger', icon: UserRoundX, tone: 'warn', words: text.thread.stranger });
  if (email.direction === 'inbound' && email.authentication?.verdict === 'failed')
    marks.push({ key: 'forged', icon: ShieldX, tone: 'bad', words: text.thread.authentication.failed });
  if (email.written_by === 'unsure')
    marks.push({ key: 'automatic', icon: Bot, tone: 'quiet', words: text.thread.unsure });
  else if (email.automatic !== null && email.written_by !== 'person')
    marks.push({ key: 'automatic', icon: Bot, tone: 'quiet', words: text.thread.automatic[email.automatic] });
  if (email.direction === 'outbound') marks.push(...deliveryMarks(email, text, format));
  return marks;
}

function deliveryMarks(email: ThreadEmail, text: Messages, format: Formats): readonly Mark[] {
  const marks: Mark[] = [];
  const { state, next_attempt_at: next } = email;
  if (state === 'queued' && next !== null)
    marks.push({ key: 'state', icon: Clock, tone: 'quiet', words: text.thread.scheduled(format.full(next)) });
  else if (state === 'failed' || state === 'unknown')
    marks.push({ key: 'state', icon: CircleAlert, tone: 'bad', words: withDetail(text.state[state], email) });
  else if (state !== 'sent')
    marks.push({ key: 'state', icon: Clock, tone: 'warn', words: withDetail(text.state[state], email) });
  for (const { address, state: outcome, report } of email.recipients) {
    const words = text.thread.delivery;
    const key = `to ${address}`;
    if (
      report?.outcome === 'bounced_hard' ||
      report?.outcome === 'bounced_soft' ||
      report?.outcome === 'blocked'
    )
      marks.push({ key, icon: ShieldAlert, tone: 'bad', words: words[report.outcome](address) });
    else if (report?.outcome === 'complained')
      marks.push({ key, icon: ShieldAlert, tone: 'warn', words: words.complained(address) });
    else if (outcome === 'rejected' && state !== 'failed')
      marks.push({ key, icon: ShieldAlert, tone: 'bad', words: words.rejected(address) });
  }
  return marks;
}

const withDetail = (words: string, { state_detail: detail }: ThreadEmail): string =>
  detail === null ? words : `${words}: ${detail}`;

export function Marks({ email }: { readonly email: ThreadEmail }) {
  const { text, format } = useWords();
  const marks = marksOf(email, text, format);
  if (marks.length === 0) return null;
  return (
    <ul className="marks">
      {marks.map(({ key, icon: Icon, tone, words }) => (
        <li key={key} className={`mark mark-${tone}`}>
          <Icon size={16} strokeWidth={1.75} aria-hidden />
          {words}
        </li>
      ))}
    </ul>
  );
}
