/** A plot over time, by uPlot: what it draws on its canvas is for the eye alone; the view has the same figures as text. */
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
  /** A colour by its name in `figures.css`; read from there for each drawing, since light and dark differ. */
  readonly kind: string;
  /** So that lines differ not by their colours alone. */
  readonly isDashed: boolean;
  readonly values: readonly number[];
}

interface PlotProps {
  readonly label: string;
  /** In seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** At an axis. */
  readonly timeText: (seconds: number) => string;
  readonly countText: (count: number) => string;
  /** The place in `times` that the pointer is at; null: none. */
  readonly onPoint: (index: number | null) => void;
}

export function Plot({ label, times, lines, timeText, countText, onPoint }: PlotProps) {
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
        // A step without mail is at the foot, and a plot of nothing has a scale all the same.
        scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, 4)] } },
        axes: [
          { ...axis, size: TIME_AXIS_SIZE, space: AXIS_SPACE, values: (_, splits) => splits.map(timeText) },
          {
            ...axis,
            size: AXIS_SIZE,
            values: (_, splits) => splits.map((count) => (Number.isInteger(count) ? countText(count) : '')),
          },
        ],
        series: [
          {},
          ...lines.map(({ kind, isDashed }): UPlot.Series => ({
            stroke: () => colourOf(element, kind),
            width: LINE_WIDTH,
            points: { show: false },
            ...(isDashed ? { dash: [6, 4] } : {}),
          })),
        ],
        hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
      },
      [[...times], ...lines.map(({ values }) => [...values])],
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
  }, [times, lines, timeText, countText, onPoint]);
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

/** As the style sheet has it now: a canvas knows no custom properties. */
function colourOf(place: HTMLElement, kind: string): string {
  const sample = place.querySelector(`.plot-colour[data-kind="${kind}"]`);
  return sample === null ? '#888888' : getComputedStyle(sample).color;
}
