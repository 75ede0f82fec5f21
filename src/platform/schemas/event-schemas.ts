/** The names and positions of events in the API. */
import { EVENT_TYPES } from '../../core/event/event-types.ts';

export const EventId = {
  title: 'EventId',
  $comment: 'Position of an event in the feed. Opaque; ids sort as text in feed order.',
  type: 'string',
  pattern: '^[0-9a-f]{16}$',
} as const;
export const EventTypeName = {
  title: 'EventType',
  $comment: 'Type of the event; the [guide](/api/docs/events) describes each. New types may be added.',
  type: 'string',
  enum: EVENT_TYPES,
} as const;
