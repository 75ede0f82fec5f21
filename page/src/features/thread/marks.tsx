/** Warnings, in words, that a reader should see before trusting an email. */
import type { ThreadEmail } from 'email-worker-client';
import {
  Bot,
  CircleAlert,
  Clock,
  Lock,
  ShieldAlert,
  ShieldX,
  Signature,
  UserRoundX,
  type IconType,
} from '../../ui/icons.tsx';
import type { Messages } from '../../i18n/en.ts';
import type { Formats } from '../../i18n/format.ts';
import { useWords } from '../../i18n/index.tsx';
import { shown } from '../../ui/shown.ts';
import { reasonOf } from './undelivered-reason.ts';

type Tone = 'quiet' | 'warn' | 'bad';

interface Mark {
  readonly key: string;
  readonly icon: IconType;
  readonly tone: Tone;
  readonly words: string;
}

/** Most emails have no marks. */
function marksOf(email: ThreadEmail, text: Messages, format: Formats): readonly Mark[] {
  const marks: Mark[] = [];
  // Nothing that a machine wrote is answered.
  if (email.new_participant && email.written_by !== 'machine')
    marks.push({ key: 'stranger', icon: UserRoundX, tone: 'warn', words: text.thread.stranger });
  if (email.direction === 'inbound' && email.authentication?.verdict === 'failed')
    marks.push({ key: 'forged', icon: ShieldX, tone: 'bad', words: text.thread.authentication.failed });
  for (const warning of email.sender_warnings) {
    const words = text.thread.senderWarnings[warning](shown(email.from_address.address));
    marks.push({ key: warning, icon: ShieldAlert, tone: 'bad', words });
  }
  if (email.protection !== null) {
    const isEncrypted = email.protection.endsWith('_encrypted');
    marks.push({
      key: 'protection',
      icon: isEncrypted ? Lock : Signature,
      tone: isEncrypted ? 'warn' : 'quiet',
      words: text.thread.protection[isEncrypted ? 'encrypted' : 'signed'],
    });
  }
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
    marks.push({ key: 'state', icon: CircleAlert, tone: 'bad', words: text.thread.notSent[state] });
  else if (state !== 'sent')
    marks.push({ key: 'state', icon: Clock, tone: 'warn', words: text.state[state] });
  for (const { address, state: outcome, reply, report } of email.recipients) {
    const key = `to ${address}`;
    const isRefused = outcome === 'rejected' && report === null;
    if (report?.outcome === 'complained')
      marks.push({ key, icon: ShieldAlert, tone: 'warn', words: text.thread.delivery.complained(address) });
    else if (isRefused || BOUNCED.has(report?.outcome ?? '')) {
      const reason = reasonOf(report?.enhanced_status ?? reply?.enhanced_status ?? null);
      const words = text.thread.undelivered(shown(address), text.thread.undeliveredReasons[reason]);
      marks.push({ key, icon: ShieldAlert, tone: 'bad', words });
    }
  }
  return marks;
}

const BOUNCED: ReadonlySet<string> = new Set(['bounced_hard', 'bounced_soft', 'blocked']);

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
