/** GET /api/statistics: how much mail arrived, went out and failed, hour by hour or day by day. */
import { MAX_POINTS, MAX_REPORT_COUNTS } from '../../../app/statistics/statistics-ports.ts';
import type { StatisticsPoint } from '../../../app/statistics/use-cases.ts';
import type { Latency } from '../../../core/statistics/latency.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { AccountId, ACCOUNT_QUERY_ERRORS } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, Moment, record, Timestamp, toMoment } from '../../../platform/schemas/schemas.ts';

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

const StatisticsQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
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
} as const;

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

export function registerStatisticsRoutes(app: HttpServer, { applicationFor }: HttpContext): void {
  app.get(
    '/api/statistics',
    {
      schema: {
        operationId: 'getStatistics',
        right: 'operate',
        tags: ['Statistics'],
        summary: 'Count mail by hour or day',
        description:
          'How many emails came in, were sent and failed, and how many recipients bounced or complained, for each step of ' +
          `the time that is asked for: ${MAX_POINTS} steps at most. Kept for 25 months. Mail that was imported, or found at the first ` +
          'reading of a mailbox, is not counted.',
        querystring: StatisticsQuery,
        response: {
          200: jsonResponse('The counts.', Statistics),
          ...errorResponses(...ACCOUNT_QUERY_ERRORS),
        },
      },
    },
    async (request) => {
      const {
        since,
        until,
        step = 'day',
        time_zone: timeZone = 'UTC',
        account_id: accountId,
      } = request.query;
      const { points, reports, ...whole } = await applicationFor(request).readStatistics({
        since: since === undefined ? null : toMoment('since', since),
        until: until === undefined ? null : toMoment('until', until),
        step,
        timeZone,
        accountId: accountId ?? null,
      });
      return {
        step,
        time_zone: timeZone,
        points: points.map(toPointJson),
        reports,
        ...toLatenciesJson(whole),
      };
    },
  );
}

const toPointJson = ({ at, sendLatency, receiveLatency, ...counts }: StatisticsPoint) => ({
  at: at.toISOString(),
  ...counts,
  ...toLatenciesJson({ sendLatency, receiveLatency }),
});

const toLatenciesJson = ({
  sendLatency,
  receiveLatency,
}: Pick<StatisticsPoint, 'sendLatency' | 'receiveLatency'>) => ({
  send_latency: toLatencyJson(sendLatency),
  receive_latency: toLatencyJson(receiveLatency),
});

const toLatencyJson = (latency: Latency | null) =>
  latency === null
    ? null
    : {
        emails: latency.emails,
        mean_ms: latency.meanMs,
        median_ms: latency.medianMs,
        p95_ms: latency.p95Ms,
      };
