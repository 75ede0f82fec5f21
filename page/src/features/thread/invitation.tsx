/** The invitation in an email: what, when, where and who, and the buttons that answer it. Its sender wrote all of it. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Invitation as InvitationRecord, InvitationAnswer, ThreadEmail } from 'email-worker-client';
import {
  CalendarCheck,
  CalendarDays,
  CalendarX,
  Check,
  CircleHelp,
  TriangleAlert,
  X,
} from '../../ui/icons.tsx';
import { useState } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { client } from '../../api/client.ts';
import { codeOf } from '../../api/failure.ts';
import { refreshLists } from '../../api/live.ts';
import { accountsQuery, keys, threadQuery } from '../../api/queries.ts';
import { useMay } from '../../app/session.tsx';
import type { Messages } from '../../i18n/en.ts';
import type { Formats } from '../../i18n/format.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { notify } from '../../ui/toast.tsx';
import '../../ui/field.css';
import { inFull } from '../threads/rows.ts';
import './invitation.css';

/** People whose names are shown. */
const MAX_PEOPLE = 8;
/** The service takes more, and calendar programs show one line. */
const MAX_COMMENT_CHARS = 500;

interface InvitationProps {
  readonly threadId: string;
  readonly email: ThreadEmail;
  readonly invitation: InvitationRecord;
}

export default function Invitation({ threadId, email, invitation }: InvitationProps) {
  const { text, format } = useWords();
  const words = text.thread.invitation;
  const mayRead = useMay('read');
  const maySend = useMay('send');
  const { replaced_by: replacedBy } = invitation;
  const kind = kindOf(invitation);
  const isOff = kind === 'cancel' || replacedBy !== null;
  const asksForAnswer =
    !isOff &&
    email.direction === 'inbound' &&
    invitation.method === 'request' &&
    invitation.organizer !== null;
  const mayAnswer = mayRead && maySend && asksForAnswer;
  const isInvited = useIsInvited(threadId, invitation, mayAnswer);
  const Icon = kind === 'cancel' ? CalendarX : kind === 'reply' ? CalendarCheck : CalendarDays;
  return (
    <section className="invitation" aria-label={words.title} data-is-off={isOff ? '' : undefined}>
      <p className="invitation-kind" data-kind={kind}>
        <Icon size={16} aria-hidden />
        {titleOf(kind, invitation, words)}
      </p>
      <p className="invitation-summary">{shown(invitation.summary) || words.untitled}</p>
      {replacedBy !== null && (
        <p className="invitation-note">
          {replacedBy.method === 'cancel' ? words.cancelledLater : words.replaced}
        </p>
      )}
      <dl className="invitation-facts">
        {factsOf(invitation, words, format).map(({ name, value, more }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
              {more !== undefined && <span className="invitation-more">{more}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {mayAnswer && isInvited === true && (
        <Answers threadId={threadId} emailId={email.id} invitation={invitation} />
      )}
      {mayAnswer && isInvited === false && <p className="invitation-note">{words.notInvited}</p>}
    </section>
  );
}

/** True if the account of the thread is among the attendees; null while that is not known. */
function useIsInvited(threadId: string, { attendees }: InvitationRecord, isWanted: boolean): boolean | null {
  const thread = useInfiniteQuery(threadQuery(threadId)).data?.pages[0]?.thread;
  const accounts = useQuery({ ...accountsQuery, enabled: isWanted }).data;
  if (thread === undefined || accounts === undefined) return null;
  const own = accounts.find(({ id }) => id === thread.account_id)?.from_address?.address.toLowerCase();
  return attendees.some(({ address }) => address.toLowerCase() === own);
}

type Words = Messages['thread']['invitation'];

/** An answer with what it says. */
function titleOf(kind: keyof Words['kinds'], { attendees }: InvitationRecord, words: Words): string {
  const [person] = attendees;
  if (kind !== 'reply' || person === undefined) return words.kinds[kind];
  return `${words.kinds.reply}: ${words.statuses[person.status]}`;
}

function kindOf({ method, component, status, sequence }: InvitationRecord): keyof Words['kinds'] {
  if (method === 'reply' || method === 'counter' || method === 'decline_counter' || method === 'refresh')
    return method;
  if (method === 'cancel' || status === 'cancelled') return 'cancel';
  if (component === 'task' || method !== 'request') return component;
  return sequence > 0 ? 'update' : 'request';
}

interface Fact {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

function factsOf(invitation: InvitationRecord, words: Words, format: Formats): readonly Fact[] {
  const { location, organizer, attendees, recurrence, more_events: moreEvents } = invitation;
  const people = attendees
    .slice(0, MAX_PEOPLE)
    .map((person) => `${inFull(person)} (${words.statuses[person.status]})`);
  const hidden = invitation.attendee_count - people.length;
  return [
    ...timesOf(invitation, words, format),
    ...(recurrence === null ? [] : [{ name: words.repeats, value: ruleOf(recurrence, words) }]),
    ...(location === null ? [] : [{ name: words.where, value: shown(location) }]),
    ...(organizer === null ? [] : [{ name: words.organizer, value: inFull(organizer) }]),
    ...(people.length === 0
      ? []
      : [
          {
            name: words.people,
            value: people.join(', '),
            ...(hidden > 0 ? { more: words.morePeople(format.count(hidden)) } : {}),
          },
        ]),
    ...(invitation.comment === null ? [] : [{ name: words.comment, value: shown(invitation.comment) }]),
    ...(moreEvents === 0 ? [] : [{ name: '…', value: words.moreEvents(format.count(moreEvents)) }]),
  ];
}

/** In the reader's zone, and as written where that is something else. */
function timesOf(invitation: InvitationRecord, words: Words, format: Formats): readonly Fact[] {
  const isTask = invitation.component === 'task';
  const [start, end] = isTask
    ? [invitation.end ?? invitation.start, null]
    : [invitation.start, invitation.end];
  if (start === null) return [];
  const name = isTask ? words.due : words.when;
  const oneDate = invitation.recurrence_id === null ? [] : [words.oneDate];
  const asWritten = (local: string) => new Date(local.includes('T') ? `${local}Z` : `${local}T00:00:00Z`);
  const [from, to] = [asWritten(start.local), end === null ? null : asWritten(end.local)];
  const toFact = (value: string, ...more: readonly string[]): readonly Fact[] => {
    const notes = [...more, ...oneDate];
    return [{ name, value, ...(notes.length === 0 ? {} : { more: notes.join('. ') }) }];
  };
  if (!start.local.includes('T')) return toFact(format.daySpan(from, to));
  const written = format.writtenSpan(from, to);
  const { utc, time_zone: zone, time_zone_name: zoneName } = start;
  if (utc === null)
    return toFact(written, zoneName === null ? words.noZone : words.unknownZone(shown(zoneName)));
  const here = format.span(new Date(utc), end?.utc ? new Date(end.utc) : null);
  // A time in UTC has no place of its own.
  if (here === written || zone === 'UTC') return toFact(here);
  return toFact(here, words.here(`${written} (${shown(zone ?? zoneName ?? '')})`));
}

function ruleOf(rule: string, { rules }: Words): string {
  const [, frequency] = /(?:^|;)FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(?:;|$)/.exec(rule) ?? [];
  return rules[(frequency ?? 'other') as keyof typeof rules];
}

type Answer = InvitationAnswer['answer'];

function Answers({
  threadId,
  emailId,
  invitation,
}: {
  readonly threadId: string;
  readonly emailId: string;
  readonly invitation: InvitationRecord;
}) {
  const { text, format, language } = useWords();
  const words = text.thread.invitation;
  const queryClient = useQueryClient();
  const [comment, setComment] = useState('');
  const [pending, setPending] = useState<Answer | null>(null);
  const { answer: given, organizer, organizer_is_sender: isSender } = invitation;
  const act = async (answer: Answer): Promise<void> => {
    setPending(answer);
    try {
      await client.emails.answerInvitation(emailId, {
        answer,
        language,
        ...(comment.trim() === '' ? {} : { comment }),
        // The note beside the buttons names it.
        ...(isSender ? {} : { organizer: organizer?.address ?? '' }),
      });
      notify(words.sent);
      setComment('');
    } catch (error) {
      notify(failureOf(codeOf(error), text));
    }
    setPending(null);
    refreshLists(queryClient);
    await queryClient.invalidateQueries({ queryKey: keys.thread(threadId) });
  };
  const buttons = [
    { answer: 'accepted', icon: Check, label: words.accept },
    { answer: 'tentative', icon: CircleHelp, label: words.tentative },
    { answer: 'declined', icon: X, label: words.decline },
  ] as const;
  return (
    <>
      {given !== null && <p className="invitation-answered">{answeredAs(given, words, format)}</p>}
      {!isSender && organizer !== null && (
        <p className="invitation-note">
          <TriangleAlert size={16} aria-hidden />
          <span>{words.toOther(inFull(organizer))}</span>
        </p>
      )}
      <TextField
        className="field invitation-comment"
        value={comment}
        onChange={setComment}
        maxLength={MAX_COMMENT_CHARS}
        isReadOnly={pending !== null}
      >
        <Label className="field-label">{words.answerComment}</Label>
        <Input className="input" autoComplete="off" />
      </TextField>
      <div className="invitation-answers">
        {buttons.map(({ answer, icon: Icon, label }) => (
          <Button
            key={answer}
            look={
              given?.status === answer || (given === null && answer === 'accepted') ? 'primary' : 'outline'
            }
            aria-pressed={given?.status === answer}
            isPending={pending === answer}
            isDisabled={pending !== null && pending !== answer}
            onPress={() => void act(answer)}
          >
            <Icon size={16} aria-hidden />
            {label}
          </Button>
        ))}
      </div>
    </>
  );
}

function answeredAs(
  { status, date }: NonNullable<InvitationRecord['answer']>,
  { answered }: Words,
  format: Formats,
): string {
  const isKnown = status === 'accepted' || status === 'tentative' || status === 'declined';
  return answered[isKnown ? status : 'other'](format.full(date));
}

function failureOf(code: string | null, { thread }: Messages): string {
  if (code === 'not_invited') return thread.invitation.notInvited;
  if (code === 'invitation_cancelled' || code === 'invitation_replaced' || code === 'no_invitation')
    return thread.invitation.closed;
  return thread.changeFailed;
}
