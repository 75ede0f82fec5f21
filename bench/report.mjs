/** The table and the plots of docs/benchmarks.md, made from the results that results.mjs has written. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vega from 'vega';
import { compile } from 'vega-lite';
import { median } from './results.mjs';

const BEGIN = '<!-- figures: written by npm run bench -->';
const END = '<!-- end of figures -->';

/** @returns {object[]} the rows, in the order of their measurement */
export const readResults = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const format = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
const spread = (values) => `${format(Math.min(...values))}–${format(Math.max(...values))}`;
const cell = (values, unit) => `${format(median(values))}${unit} (${spread(values)})`;
const spent = (cpu) =>
  cpu === undefined || cpu === null
    ? ''
    : Object.entries(cpu)
        .map(([name, ms]) => `${name} ${ms >= 10 ? ms.toFixed(0) : ms.toPrecision(2)}`)
        .join(', ');

/** A table in Markdown: medians with the spread of their rounds. */
export function toTable(rows) {
  const head = [
    'What',
    'Baseline',
    'Baseline',
    'Service',
    'Ratio',
    'Goal',
    'CPU, ms each: baseline',
    'service',
  ];
  const lines = rows.map(({ what, baseline, unit, theirs, ours, ratio, goal, cpu }) => [
    what,
    baseline,
    cell(theirs, unit),
    cell(ours, unit),
    ratio.toFixed(2),
    goal ?? '',
    spent(cpu?.theirs),
    spent(cpu?.ours),
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Puts text between the markers of docs/benchmarks.md. */
export function writeSection(file, text) {
  const document = readFileSync(file, 'utf8');
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${file} lacks the marks of the figures`);
  writeFileSync(file, `${document.slice(0, from)}${BEGIN}\n\n${text}\n\n${document.slice(to)}`);
}

/** Colours that can be told apart on a light and on a dark page, and by people who are colour-blind. */
const COLOURS = { baseline: '#8a94a6', service: '#2f7de1', goal: '#d9622b' };
const INK = '#7a8494';
const config = {
  background: 'transparent',
  font: 'system-ui, sans-serif',
  view: { stroke: null },
  axis: {
    labelColor: INK,
    titleColor: INK,
    gridColor: INK,
    gridOpacity: 0.25,
    domain: false,
    ticks: false,
    labelLimit: 420,
    labelPadding: 6,
  },
  legend: { labelColor: INK, titleColor: INK, orient: 'bottom' },
  title: { color: INK, fontWeight: 600, anchor: 'start' },
};

async function writeSvg(spec, file) {
  const view = new vega.View(vega.parse(compile({ config, ...spec }).spec), { renderer: 'none' });
  writeFileSync(file, await view.toSVG());
  view.finalize();
}

/** `ratios.svg`: each figure as a multiple of its baseline, with its goal. `cpu.svg`: how the CPU time of an operation is spent. */
export async function writePlots(rows, folder) {
  const ratios = rows.map(({ what, unit, ratio, goal, ours, theirs }) => ({
    what,
    // So that more is better in every line
    ratio: unit === '/s' ? ratio : 1 / ratio,
    goal: goal === null ? null : unit === '/s' ? goal : 1 / goal,
    low: unit === '/s' ? Math.min(...ours) / median(theirs) : median(theirs) / Math.max(...ours),
    high: unit === '/s' ? Math.max(...ours) / median(theirs) : median(theirs) / Math.min(...ours),
  }));
  const y = { field: 'what', type: 'nominal', title: null, sort: null };
  await writeSvg(
    {
      title: 'Multiples of the baseline in the same run (more is better)',
      width: 460,
      height: { step: 26 },
      data: { values: ratios },
      layer: [
        {
          mark: { type: 'bar', color: COLOURS.service, height: 12, cornerRadiusEnd: 3 },
          encoding: { y, x: { field: 'ratio', type: 'quantitative', title: null } },
        },
        {
          mark: { type: 'rule', color: INK, strokeWidth: 1.5 },
          encoding: { y, x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' } },
        },
        {
          transform: [{ filter: 'datum.goal !== null' }],
          mark: { type: 'tick', color: COLOURS.goal, thickness: 3, size: 20, tooltip: false },
          encoding: { y, x: { field: 'goal', type: 'quantitative' } },
        },
        {
          data: { values: [{ one: 1 }] },
          mark: { type: 'rule', color: COLOURS.baseline, strokeDash: [4, 3], strokeWidth: 1.5 },
          encoding: { x: { field: 'one', type: 'quantitative' } },
        },
      ],
    },
    path.join(folder, 'ratios.svg'),
  );

  const cpu = rows.flatMap(({ what, cpu: spentBy }) =>
    ['theirs', 'ours'].flatMap((side) =>
      Object.entries(spentBy?.[side] ?? {}).map(([process, ms]) => ({
        what,
        side: side === 'ours' ? 'service' : 'baseline',
        process,
        ms,
      })),
    ),
  );
  if (cpu.length === 0) return;
  await writeSvg(
    {
      title: 'Processor time of one operation in ms; the baseline is pale',
      width: 460,
      height: { step: 15 },
      data: { values: cpu },
      mark: { type: 'bar', height: 11 },
      encoding: {
        y,
        yOffset: { field: 'side', sort: ['baseline', 'service'], scale: { paddingOuter: 0.2 } },
        x: { field: 'ms', type: 'quantitative', title: null, stack: 'zero' },
        color: {
          field: 'process',
          title: null,
          scale: { range: ['#2f7de1', '#e0a12b', '#4aa37c', '#a06bd0'] },
        },
        opacity: {
          field: 'side',
          type: 'ordinal',
          legend: null,
          scale: { domain: ['baseline', 'service'], range: [0.45, 1] },
        },
      },
    },
    path.join(folder, 'cpu.svg'),
  );
}
