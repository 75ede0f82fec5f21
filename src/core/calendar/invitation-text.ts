/** An invitation as a text, for an email that has no other. */
import { shownMailbox } from '../address/shown-mailbox.ts';
import { INVITATION_TEXTS as TEXTS } from '../texts.ts';
import { isCancelled, type CalendarTime, type Invitation } from './invitation.ts';

/** Names of people that the text has. */
const MAX_SHOWN_PEOPLE = 20;

export function invitationText(invitation: Invitation): string {
  const { component, start, end, rule, location, organizer, attendees, attendeeCount, method } = invitation;
  const isReply = method === 'reply' || method === 'counter';
  const [answering] = attendees;
  const from = isReply && answering !== undefined ? answering : organizer;
  const names = attendees
    .slice(0, MAX_SHOWN_PEOPLE)
    .map(shownMailbox)
    .filter((name) => name !== '');
  const more = attendeeCount - MAX_SHOWN_PEOPLE;
  const people = [...names, ...(more > 0 ? [TEXTS.more.replace('{count}', String(more))] : [])];
  const isTask = component === 'task';
  const head = [
    titleOf(invitation),
    ...line(isTask ? TEXTS.due : TEXTS.when, isTask ? momentOf(end ?? start) : spanOf(start, end)),
    ...line(TEXTS.repeats, rule === null ? '' : ruleOf(rule)),
    ...line(TEXTS.where, location ?? ''),
    ...line(TEXTS.from, from === null ? '' : shownMailbox(from)),
    ...line(TEXTS.to, isReply ? '' : people.join(', ')),
  ].join('\n');
  return [head, invitation.comment, invitation.description].filter((text) => text !== null).join('\n\n');
}

function titleOf(invitation: Invitation): string {
  const summary = invitation.summary === '' ? TEXTS.untitled : invitation.summary;
  return TEXTS[titleKey(invitation)].replace('{summary}', () => summary);
}

function titleKey(invitation: Invitation): keyof typeof TEXTS {
  const { method, sequence, component, attendees } = invitation;
  if (method === 'reply') {
    const status = attendees[0]?.status;
    return status === 'accepted' || status === 'tentative' || status === 'declined' ? status : 'reply';
  }
  if (method === 'counter' || method === 'decline_counter' || method === 'refresh') return method;
  if (isCancelled(invitation)) return 'cancel';
  if (component === 'task' || method !== 'request') return component;
  return sequence > 0 ? 'update' : 'request';
}

const line = (name: string, value: string): readonly string[] => (value === '' ? [] : [`${name}: ${value}`]);

function ruleOf(rule: string): string {
  const [, frequency = ''] = /(?:^|;)FREQ=([A-Z]+)/.exec(rule) ?? [];
  return frequency === 'DAILY' || frequency === 'WEEKLY' || frequency === 'MONTHLY' || frequency === 'YEARLY'
    ? TEXTS[frequency]
    : TEXTS.otherRule;
}

const isDay = ({ local }: CalendarTime): boolean => !local.includes('T');

/** Fields of a local time are formatted as if they were UTC. */
const DAY = new Intl.DateTimeFormat('de-DE', {
  timeZone: 'UTC',
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

const dayOf = ({ local }: CalendarTime): string => DAY.format(Date.parse(`${local.slice(0, 10)}T00:00:00Z`));
const clockOf = ({ local }: CalendarTime): string => local.slice(11, 16);

function momentOf(time: CalendarTime | null): string {
  if (time === null) return '';
  return isDay(time) ? dayOf(time) : `${dayOf(time)}, ${clockOf(time)} ${TEXTS.clock}${zoneOf(time)}`;
}

function spanOf(start: CalendarTime | null, end: CalendarTime | null): string {
  if (start === null || end === null || end.local === start.local) return momentOf(start);
  if (isDay(start)) {
    const last = lastDay(end);
    return last.local <= start.local ? dayOf(start) : `${dayOf(start)} – ${dayOf(last)}`;
  }
  const hasSameZone = start.zone === end.zone && start.zoneName === end.zoneName;
  if (isDay(end) || !hasSameZone || start.local.slice(0, 10) !== end.local.slice(0, 10)) {
    return `${momentOf(start)} – ${momentOf(end)}`;
  }
  return `${dayOf(start)}, ${clockOf(start)}–${clockOf(end)} ${TEXTS.clock}${zoneOf(start)}`;
}

/** The day before the exclusive end. */
function lastDay(end: CalendarTime): CalendarTime {
  const before = new Date(Date.parse(`${end.local.slice(0, 10)}T00:00:00Z`) - 86_400_000);
  return { ...end, local: before.toISOString().slice(0, 10) };
}

function zoneOf({ zone, zoneName }: CalendarTime): string {
  if (zone !== null) return ` (${zone})`;
  return zoneName === null ? '' : ` (${TEXTS.unknownZone.replace('{zone}', () => zoneName)})`;
}
