/** GET /api/statistics: how much mail arrived, went out and failed, hour by hour or day by day. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { Moment, record, Timestamp } from '../../platform/schemas/schemas.ts';
import { MAX_POINTS, MAX_REPORT_COUNTS } from './event-counts.ts';
import type { StatisticsUseCases } from './use-cases.ts';

/** Without the offsets that other requests accept: PostgreSQL reads their sign the other way round. */
const TimeZoneName = {
  title: 'TimeZoneName',
  $comment: '`UTC`, or a name of the IANA database such as `Europe/Berlin`.',
  type: 'string',
  maxLength: 64,
  // Input: at most 64 characters
  pattern: '^(?:UTC|[A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2})$',
} as const;

const Step = { title: 'StatisticsStep', type: 'string', enum: ['hour', 'day'] } as const;

const Count = { title: 'StatisticsCount', type: 'integer', minimum: 0 } as const;

const Milliseconds = { title: 'StatisticsMilliseconds', type: 'integer', minimum: 0 } as const;

const LatencySchema = record('Latency', {
  emails: { ...Count, description: 'Emails whose duration is known.' },
  mean_ms: Milliseconds,
  median_ms: { ...Milliseconds, description: 'Estimated from counts by ranges of time.' },
  p95_ms: { ...Milliseconds, description: '95th percentile, estimated from the same counts.' },
});

const latencies = {
  send_latency: {
    anyOf: [LatencySchema, { type: 'null' }],
    description:
      'From when a send was accepted, or was to go out, until its mail server had taken it for all recipients; null without any.',
  },
  receive_latency: {
    anyOf: [LatencySchema, { type: 'null' }],
    description:
      'Time from the posting of an email, or its arrival in the mailbox, until its record; null without emails.',
  },
} as const;

const Statistics = record('Statistics', {
  step: Step,
  time_zone: TimeZoneName,
  points: {
    type: 'array',
    // Incomplete steps at both ends, and an hour that daylight saving time adds
    maxItems: MAX_POINTS + 2,
    items: record('StatisticsPoint', {
      at: { ...Timestamp, description: 'Start of the step.' },
      received: Count,
      sent: {
        ...Count,
        description: 'Emails sent by the service, and by other programs as far as copies of them were found.',
      },
      failed: Count,
      unknown: { ...Count, description: 'Sends with an initially unknown outcome.' },
      bounced: { ...Count, description: 'Recipients that bounced.' },
      complained: { ...Count, description: 'Recipients that reported an email as spam.' },
      ...latencies,
    }),
    description: 'Each step, the oldest first, also those without mail.',
  },
  reports: {
    type: 'array',
    maxItems: MAX_REPORT_COUNTS,
    items: record('ReportCount', {
      kind: { title: 'ReportCountKind', type: 'string', enum: ['dmarc', 'tls'] },
      domain: { title: 'ReportedDomain', type: 'string', $comment: 'Lower-case.' },
      source: {
        anyOf: [{ title: 'ReportedSource', type: 'string' }, { type: 'null' }],
        description: 'IP address of the server that sent the mail; null when the report does not name it.',
      },
      result: {
        title: 'ReportedResult',
        type: 'string',
        $comment: '`pass`, `fail`, or of TLS the type of a failure (RFC 8460 §4.3).',
      },
      messages: { ...Count, description: 'Emails; of `tls`, sessions.' },
    }),
    description:
      'Counts of the DMARC and TLS reports whose Date is within the time, as their senders state them: the largest first, ' +
      `${MAX_REPORT_COUNTS} at most.`,
  },
  ...latencies,
});

const operation = operationsWith<{ readonly statistics: StatisticsUseCases }>();

export const statisticsOperations = [
  operation({
    id: 'getStatistics',
    method: 'GET',
    path: '/api/statistics',
    right: 'operate',
    account: 'list',
    tag: 'Statistics',
    summary: 'Count mail by hour or day',
    description:
      'How many emails came in, were sent and failed, and how many recipients bounced or complained, for each step of ' +
      `the time that is asked for: ${MAX_POINTS} steps at most. Kept for 25 months. Mail that was imported, or found at the first ` +
      'reading of a mailbox, is not counted.',
    query: {
      since: {
        ...Moment,
        description:
          'Start: the first step is the step that contains this time. Default: 48 hours or 30 days before `until`.',
      },
      until: {
        ...Moment,
        description: 'End: the last step is the step that contains or ends at this time. Default: now.',
      },
      step: { ...Step, description: 'Default: `day`.' },
      time_zone: {
        ...TimeZoneName,
        description: 'Time zone in which days begin. Default: `UTC`. Hours are always UTC.',
      },
      account_id: { ...AccountId, description: 'Only of this account.' },
    },
    answer: 'The counts.',
    output: Statistics,
    async run(
      _caller,
      { since = null, until = null, step = 'day', timeZone = 'UTC', accountId = null, within },
      { statistics },
    ) {
      const counted = await statistics.readStatistics({ since, until, step, timeZone, accountId, within });
      return { ...counted, step, timeZone };
    },
  }),
];
