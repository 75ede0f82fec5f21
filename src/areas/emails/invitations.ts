/** The invitation of an email `e`: whether a later one replaces it, and how it was answered from here. Each is a look into an index. */
import type { InvitationView } from './email-ports.ts';
import type { Attendee } from '../../core/calendar/invitation.ts';
import { jsonObject, type JsonOf } from '../../platform/db/json.ts';

/** Programs write the date of a series in different zones. */
const dateOf = (email: string) =>
  `coalesce(${email}.invitation #>> '{recurrenceId,utc}', ${email}.invitation #>> '{recurrenceId,local}', '')`;
const sequenceOf = (email: string) => `(${email}.invitation ->> 'sequence')::bigint`;
const methodOf = (email: string) => `${email}.invitation ->> 'method'`;
const organizerOf = (email: string) => `lower(${email}.invitation #>> '{organizer,address}')`;

/** Another email `o` of the account about the event of `e`, the index emails_invitation finds. */
const SAME_EVENT = `o.invitation is not null and o.account_id = e.account_id
  and o.invitation ->> 'uid' = e.invitation ->> 'uid' and o.id <> e.id`;

/** RFC 5546 §2.1.5. Of what another person than the organizer claims nothing counts, nor of what failed the check of its sender. */
const REPLACING = `${SAME_EVENT} and o.direction = 'inbound' and ${methodOf('o')} in ('request', 'cancel')
  and ${organizerOf('o')} = ${organizerOf('e')} and coalesce(o.authentication ->> 'verdict', '') <> 'failed'
  and (${dateOf('o')} = ${dateOf('e')} or ${methodOf('o')} = 'cancel' and ${dateOf('o')} = '')
  and (${sequenceOf('o')} > ${sequenceOf('e')}
    or ${methodOf('o')} = 'cancel' and ${sequenceOf('o')} = ${sequenceOf('e')} and o.date >= e.date)`;

const REPLACED_BY = jsonObject('invitation-replaced-by-json', {
  from: 'emails o',
  columns: { email_id: 'o.id', method: methodOf('o') },
}).narrow<{ method: 'request' | 'cancel' }>();

const ANSWER = jsonObject('invitation-answer-json', {
  from: 'emails o',
  columns: { email_id: 'o.id', status: `o.invitation #>> '{attendees,0,status}'`, date: 'o.date' },
}).narrow<{ status: Attendee['status'] }>();

const onlyAsked = (expression: string) => `case when ${methodOf('e')} = 'request' then ${expression} end`;

export const INVITATION_REPLACED_BY = onlyAsked(
  REPLACED_BY.first(
    `where ${REPLACING} order by ${sequenceOf('o')} desc, (${methodOf('o')} = 'cancel') desc, o.date desc limit 1`,
  ),
);
export type ReplacedByJson = JsonOf<typeof REPLACED_BY>;

/** Also one that another program sent from the account. */
export const INVITATION_ANSWER = onlyAsked(
  ANSWER.first(`where ${SAME_EVENT} and o.direction = 'outbound' and ${methodOf('o')} = 'reply'
    and email_is_listed(o.state) and ${dateOf('o')} = ${dateOf('e')} and ${sequenceOf('o')} >= ${sequenceOf('e')}
    order by o.date desc, o.id desc limit 1`),
);
export type InvitationAnswerJson = JsonOf<typeof ANSWER>;

export const toInvitationView = (
  invitation: InvitationView['event'] | null,
  replacedBy: ReplacedByJson | null,
  answer: InvitationAnswerJson | null,
): InvitationView | null =>
  invitation === null
    ? null
    : {
        event: invitation,
        replacedBy: replacedBy === null ? null : { emailId: replacedBy.email_id, method: replacedBy.method },
        answer:
          answer === null
            ? null
            : { emailId: answer.email_id, status: answer.status, date: new Date(answer.date) },
      };
