/** Figures of mail received, sent and failed, and of durations: plots, with the same figures as text beside them. Loaded on demand. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Statistics, StatisticsPoint } from 'email-worker-client';
import { useCallback, useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { accountsQuery } from '../../api/queries.ts';
import { useMay } from '../../app/session.tsx';
import { useTheme } from '../../app/theme.ts';
import type { Formats } from '../../i18n/format.ts';
import { Bones } from '../../ui/bones.tsx';
import { Failure } from '../../ui/empty.tsx';
import { useOperateWords } from './operate-words.ts';
import { Plot, type Line, type PlotScale } from './plot.tsx';
import { Table } from './table.tsx';
import './figures.css';

const REFRESH_MS = 60_000;
const DAY_MS = 86_400_000;

type Kind = 'received' | 'sent' | 'failed' | 'bounced' | 'complained' | 'unknown';
/** The lines that share a plot: in a plot of all mail, failures would lie flat at the bottom. */
const COUNTS = {
  mail: ['received', 'sent'],
  trouble: ['failed', 'bounced', 'complained', 'unknown'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;
const KINDS: readonly Kind[] = [...COUNTS.mail, ...COUNTS.trouble];

/** Named by the fields of the answer. */
const LATENCIES = ['send_latency', 'receive_latency'] as const;
const TIMES = ['median_ms', 'p95_ms'] as const;

const RANGES = {
  hours: { step: 'hour', days: 2 },
  month: { step: 'day', days: 30 },
  year: { step: 'day', days: 365 },
} as const;
type Range = keyof typeof RANGES;

/** The browser's time zone, as far as the service accepts it. */
function timeZone(): string {
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  return zone.includes('/') ? zone : 'UTC';
}

export function Figures() {
  const { text, operate } = useOperateWords();
  const words = operate.figures;
  const [range, setRange] = useState<Range>('month');
  const { step, days } = RANGES[range];
  const [account, setAccount] = useState('');
  const accounts = useQuery({ ...accountsQuery, enabled: useMay('read') }).data ?? [];
  const query = useQuery({
    queryKey: ['operate', 'figures', range, account],
    queryFn: ({ signal }) =>
      client.statistics.read(
        {
          step,
          time_zone: timeZone(),
          since: new Date(Date.now() - days * DAY_MS).toISOString(),
          ...(account === '' ? {} : { account_id: account }),
        },
        { signal },
      ),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <div className="figures-choice">
        <div className="chips" role="group" aria-label={words.range}>
          {(Object.keys(RANGES) as Range[]).map((name) => (
            <button key={name} type="button" aria-pressed={name === range} onClick={() => setRange(name)}>
              {words.ranges[name]}
            </button>
          ))}
        </div>
        {accounts.length > 1 && (
          <select
            className="input figures-account"
            aria-label={words.account}
            value={account}
            onChange={({ target }) => setAccount(target.value)}
          >
            <option value="">{words.allAccounts}</option>
            {accounts.map(({ id, from_address: from }) => (
              <option key={id} value={id}>
                {from === null ? id : from.address}
              </option>
            ))}
          </select>
        )}
      </div>
      {query.isPending && <Bones count={1} shape={<div className="operate-bone bone" />} />}
      {query.isError && query.data === undefined && (
        <Failure
          title={text.app.unreachable}
          hint={text.app.unreachableHint}
          onRetry={() => void query.refetch()}
        />
      )}
      {query.data !== undefined && (
        <>
          {(['mail', 'trouble'] as const).map((name) => (
            <Counts key={name} name={name} statistics={query.data} />
          ))}
          {LATENCIES.map((name) => (
            <Latencies key={name} name={name} statistics={query.data} />
          ))}
          <AsTable statistics={query.data} />
        </>
      )}
    </>
  );
}

interface StatisticsProps {
  readonly statistics: Statistics;
}

function Counts({ name, statistics }: StatisticsProps & { readonly name: keyof typeof COUNTS }) {
  const { operate, format } = useOperateWords();
  const { points } = statistics;
  const series = useMemo(
    () =>
      COUNTS[name].map((kind): Series => ({
        kind,
        title: operate.figures.kinds[kind],
        values: points.map((point) => point[kind]),
        whole: points.reduce((total, point) => total + point[kind], 0),
      })),
    [name, points, operate],
  );
  return (
    <Figure
      title={operate.figures.plots[name]}
      statistics={statistics}
      series={series}
      scale="counts"
      valueText={format.count}
    />
  );
}

function Latencies({ name, statistics }: StatisticsProps & { readonly name: (typeof LATENCIES)[number] }) {
  const { operate, format } = useOperateWords();
  const words = operate.figures;
  const { points, [name]: whole } = statistics;
  const series = useMemo(
    () =>
      TIMES.map((time): Series => ({
        kind: time,
        title: words.latency[time],
        values: points.map((point) => point[name]?.[time] ?? null),
        whole: whole?.[time] ?? null,
      })),
    [name, points, whole, words],
  );
  return (
    <Figure
      title={words.plots[name]}
      hint={words.latency.hints[name]}
      statistics={statistics}
      series={series}
      scale="times"
      valueText={format.took}
    />
  );
}

interface Series {
  readonly kind: string;
  readonly title: string;
  /** One value for each point; null: not known. */
  readonly values: readonly (number | null)[];
  /** The value for all points together. */
  readonly whole: number | null;
}

interface FigureProps extends StatisticsProps {
  readonly title: string;
  readonly hint?: string;
  readonly series: readonly Series[];
  readonly scale: PlotScale;
  readonly valueText: (value: number) => string;
}

function Figure({ title, hint, statistics: { points, step }, series, scale, valueText }: FigureProps) {
  const { operate, format } = useOperateWords();
  const words = operate.figures;
  const [theme] = useTheme();
  const [pointed, setPointed] = useState<number | null>(null);
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const lines = useMemo(
    () => series.map(({ kind, values }, place): Line => ({ kind, isDashed: place % 2 === 1, values })),
    [series],
  );
  const timeText = useCallback(
    (seconds: number) => {
      const moment = new Date(seconds * 1000).toISOString();
      return step === 'hour' ? format.time(moment) : format.day(moment);
    },
    [format, step],
  );
  // The point under the pointer may belong to a longer range.
  const point = pointed === null ? undefined : points[pointed];
  const isEmpty = series.every(({ whole }) => whole === null);
  return (
    <section className="figure" aria-label={title}>
      <h3>{title}</h3>
      {hint !== undefined && <p className="figure-hint">{hint}</p>}
      {isEmpty ? (
        <p className="figure-empty">{words.latency.empty}</p>
      ) : (
        <>
          <p className="figure-when">{point === undefined ? words.total : whenOf(point, step, format)}</p>
          <dl className="figure-counts">
            {series.map((one) => {
              const value = point === undefined ? one.whole : (one.values[points.indexOf(point)] ?? null);
              return (
                <div key={one.kind} data-kind={one.kind}>
                  <dt>{one.title}</dt>
                  <dd>{value === null ? '–' : valueText(value)}</dd>
                </div>
              );
            })}
          </dl>
          <Plot
            key={theme}
            label={words.plotLabel(title)}
            times={times}
            lines={lines}
            scale={scale}
            timeText={timeText}
            valueText={valueText}
            onPoint={setPointed}
          />
        </>
      )}
    </section>
  );
}

const whenOf = ({ at }: StatisticsPoint, step: Statistics['step'], format: Formats): string =>
  step === 'hour' ? format.full(at) : format.day(at);

/** For screen readers, and for people who want the numbers: newest first, without empty points. */
function AsTable({ statistics: { points, step } }: StatisticsProps) {
  const { operate, format } = useOperateWords();
  const words = operate.figures;
  const filled = points.filter((point) => KINDS.some((kind) => point[kind] > 0)).reverse();
  return (
    <details className="figures-table">
      <summary>{words.asTable}</summary>
      {filled.length === 0 ? (
        <p>{words.empty}</p>
      ) : (
        <Table<StatisticsPoint>
          label={operate.sections.figures}
          items={filled}
          idOf={({ at }) => at}
          columns={[
            { title: words.at, isWide: true, cell: (point) => whenOf(point, step, format) },
            ...KINDS.map((kind) => ({
              title: words.kinds[kind],
              cell: (point: StatisticsPoint) => format.count(point[kind]),
            })),
            ...LATENCIES.map((name) => ({
              title: words.latency.columns[name],
              cell: ({ [name]: latency }: StatisticsPoint) =>
                latency === null ? '–' : `${format.took(latency.median_ms)} · ${format.took(latency.p95_ms)}`,
            })),
          ]}
        />
      )}
    </details>
  );
}
