/** How much mail came, went and failed: plots, with the same figures as text beside them. Loaded when it is opened. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { StatisticsPoint } from 'email-worker-client';
import { useCallback, useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { accountsQuery } from '../../api/queries.ts';
import { useMay } from '../../app/session.tsx';
import { useTheme } from '../../app/theme.ts';
import { Failure } from '../../ui/empty.tsx';
import { useOperateWords } from './operate-words.ts';
import { Plot, type Line } from './plot.tsx';
import { Table } from './table.tsx';
import './figures.css';

const REFRESH_MS = 60_000;
const DAY_MS = 86_400_000;

type Kind = Exclude<keyof StatisticsPoint, 'at'>;
/** What is drawn together: what fails would lie at the foot of a plot of all mail. */
const PLOTS = {
  mail: ['received', 'sent'],
  trouble: ['failed', 'bounced', 'complained', 'unknown'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;
const KINDS: readonly Kind[] = [...PLOTS.mail, ...PLOTS.trouble];

const RANGES = {
  hours: { step: 'hour', days: 2 },
  month: { step: 'day', days: 30 },
  year: { step: 'day', days: 365 },
} as const;
type Range = keyof typeof RANGES;

/** Of the browser, as far as the service takes it. */
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
      {query.isPending && <div role="status" aria-label={text.app.loading} className="operate-bone bone" />}
      {query.isError && query.data === undefined && (
        <Failure
          title={text.app.unreachable}
          hint={text.app.unreachableHint}
          onRetry={() => void query.refetch()}
        />
      )}
      {query.data !== undefined && (
        <>
          <Figure name="mail" points={query.data.points} step={query.data.step} />
          <Figure name="trouble" points={query.data.points} step={query.data.step} />
          <AsTable points={query.data.points} step={query.data.step} />
        </>
      )}
    </>
  );
}

interface PointsProps {
  readonly points: readonly StatisticsPoint[];
  readonly step: 'hour' | 'day';
}

function Figure({ name, points, step }: PointsProps & { readonly name: keyof typeof PLOTS }) {
  const { operate, format } = useOperateWords();
  const words = operate.figures;
  const [theme] = useTheme();
  const [pointed, setPointed] = useState<number | null>(null);
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const lines = useMemo(
    (): readonly Line[] =>
      PLOTS[name].map((kind, place) => ({
        kind,
        isDashed: place % 2 === 1,
        values: points.map((point) => point[kind]),
      })),
    [name, points],
  );
  const timeText = useCallback(
    (seconds: number) => {
      const moment = new Date(seconds * 1000).toISOString();
      return step === 'hour' ? format.time(moment) : format.day(moment);
    },
    [format, step],
  );
  // One that was pointed at may be of a longer range.
  const point = pointed === null ? undefined : points[pointed];
  return (
    <section className="figure" aria-label={words.plots[name]}>
      <h3>{words.plots[name]}</h3>
      <p className="figure-when">
        {point === undefined ? words.total : step === 'hour' ? format.full(point.at) : format.day(point.at)}
      </p>
      <dl className="figure-counts">
        {PLOTS[name].map((kind) => (
          <div key={kind} data-kind={kind}>
            <dt>{words.kinds[kind]}</dt>
            <dd>{format.count(point === undefined ? sum(points, kind) : point[kind])}</dd>
          </div>
        ))}
      </dl>
      <Plot
        key={theme}
        label={words.plotLabel(words.plots[name])}
        times={times}
        lines={lines}
        timeText={timeText}
        countText={format.count}
        onPoint={setPointed}
      />
    </section>
  );
}

const sum = (points: readonly StatisticsPoint[], kind: Kind): number =>
  points.reduce((total, point) => total + point[kind], 0);

/** For screen readers, and for people who want the numbers: the newest first, without empty ones. */
function AsTable({ points, step }: PointsProps) {
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
            {
              title: words.at,
              isWide: true,
              cell: ({ at }) => (step === 'hour' ? format.full(at) : format.day(at)),
            },
            ...KINDS.map((kind) => ({
              title: words.kinds[kind],
              cell: (point: StatisticsPoint) => format.count(point[kind]),
            })),
          ]}
        />
      )}
    </details>
  );
}
