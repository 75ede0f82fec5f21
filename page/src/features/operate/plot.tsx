/** A plot over time, drawn by uPlot: the canvas is for the eye alone; the view has the same figures as text. */
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 220;
const LINE_WIDTH = 2;
/** Room for a date, and for a number. */
const AXIS_SPACE = 90;
const AXIS_SIZE = 50;
const TIME_AXIS_SIZE = 30;

export interface Line {
  /** A colour by its name in `figures.css`; looked up for each drawing, since light and dark differ. */
  readonly kind: string;
  /** Lines must not differ by their colours alone. */
  readonly isDashed: boolean;
  /** null: the value at that moment is not known, and the line goes straight on to the next value. */
  readonly values: readonly (number | null)[];
}

/** `times`: in ms, on a logarithmic axis, since a few emails may take a thousand times as long as most. */
export type PlotScale = 'counts' | 'times';

/** The values labelled on the axis of the scale `times`. */
const TIME_MARKS_MS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 864_000_000];

interface PlotProps {
  readonly label: string;
  /** In seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** The label of a moment on the time axis. */
  readonly timeText: (seconds: number) => string;
  readonly scale: PlotScale;
  readonly valueText: (value: number) => string;
  /** The index in `times` under the pointer; null: none. */
  readonly onPoint: (index: number | null) => void;
}

export function Plot({ label, times, lines, scale, timeText, valueText, onPoint }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const ink = () => colourOf(element, 'ink');
    const grid = { stroke: () => colourOf(element, 'grid'), width: 1 };
    const axis: UPlot.Axis = { stroke: ink, grid, ticks: { show: false }, font: '12px system-ui' };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { y: scale === 'times' ? TIMES_SCALE : COUNTS_SCALE },
        axes: [
          { ...axis, size: TIME_AXIS_SIZE, space: AXIS_SPACE, values: (_, splits) => splits.map(timeText) },
          {
            ...axis,
            size: AXIS_SIZE,
            values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? valueText(value) : '')),
            ...(scale === 'times'
              ? {
                  splits: (_: UPlot, __: number, least: number, most: number) =>
                    TIME_MARKS_MS.filter((ms) => ms >= least && ms <= most),
                  // All marks, not only those that are powers of ten.
                  filter: (_: UPlot, splits: number[]) => splits,
                }
              : {}),
          },
        ],
        series: [
          {},
          ...lines.map(({ kind, isDashed }): UPlot.Series => ({
            stroke: () => colourOf(element, kind),
            width: LINE_WIDTH,
            // Otherwise no line would be visible between moments without mail.
            ...(scale === 'times' ? { spanGaps: true } : { points: { show: false } }),
            ...(isDashed ? { dash: [6, 4] } : {}),
          })),
        ],
        hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
      },
      [
        [...times],
        ...lines.map(({ values }) =>
          // 0 has no logarithm.
          values.map((value) => (scale === 'times' && value !== null ? Math.max(value, 1) : value)),
        ),
      ],
      element,
    );
    const watching = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watching.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.redraw();
    dark.addEventListener('change', redraw);
    return () => {
      dark.removeEventListener('change', redraw);
      watching.disconnect();
      plot.destroy();
    };
  }, [times, lines, scale, timeText, valueText, onPoint]);
  return (
    <div className="plot" role="img" aria-label={label}>
      <div ref={place} className="plot-place">
        <span className="plot-colour" data-kind="ink" />
        <span className="plot-colour" data-kind="grid" />
        {lines.map(({ kind }) => (
          <span key={kind} className="plot-colour" data-kind={kind} />
        ))}
      </div>
    </div>
  );
}

/** A step without mail lies on the bottom line, and an empty plot still has a scale. */
const COUNTS_SCALE: UPlot.Scale = { range: (_, __, most) => [0, Math.max(most * 1.1, 4)] };

/** From the mark below the shortest time to the mark above the longest. */
const TIMES_SCALE: UPlot.Scale = {
  distr: 3,
  range: (_, least, most) => [
    TIME_MARKS_MS.findLast((ms) => ms < least) ?? 1,
    TIME_MARKS_MS.find((ms) => ms > most) ?? 864_000_000,
  ],
};

/** The colour that the style sheet sets now: a canvas knows no custom properties. */
function colourOf(place: HTMLElement, kind: string): string {
  const sample = place.querySelector(`.plot-colour[data-kind="${kind}"]`);
  return sample === null ? '#888888' : getComputedStyle(sample).color;
}
