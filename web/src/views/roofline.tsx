// The roofline: where the step, its parts or its operations stand between bytes and FLOP.
import {max, min} from 'd3-array';
import {scaleLog, scaleSqrt} from 'd3-scale';
import {symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle} from 'd3-shape';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {selectRow, selectRows} from '../actions';
import {Tag} from '../parts/tag';
import {hideTip, showTip} from '../parts/tooltip';
import {bytes, int, percent, si, us} from '../format';
import type {Roof, StepModel} from '../model';
import type {State} from '../store';
import {layerName} from '../tree';
import type {Op} from '../schema';

type By = 'part' | 'place' | 'op';
interface Point {
  key: string;
  label: string;
  rows: number[];
  us: number;
  bytes: number;
  flops: number;
  hbm_us: number;
  mxu_us: number;
}

const mostPoints = 1500;
const mostLabels = 14;
const height = 420;
const margin = {left: 62, right: 12, top: 14, bottom: 36};
const shapes = {
  hbm: {type: symbolCircle, text: 'HBM bound by the datasheet'},
  mxu: {type: symbolSquare, text: 'MXU bound by the datasheet'},
  none: {type: symbolTriangle, text: 'neither'},
};
const boundOf = (point: Point): keyof typeof shapes =>
  point.hbm_us <= 0 && point.mxu_us <= 0 ? 'none' : point.mxu_us > point.hbm_us ? 'mxu' : 'hbm';
const intensity = (point: Point) => point.flops / point.bytes;
const rate = (point: Point) => (point.flops / point.us) * 1e6;

/** A matrix product often reads what a prefetch of the same part brought: by operation its bytes would be another's. */
const namings: Record<By, {text: string; key: (op: Op) => string; label: (op: Op) => string}> = {
  part: {text: 'parts, over all layers', key: (op) => op.part ?? '', label: (op) => op.part ?? 'not placed'},
  place: {
    text: 'parts of each layer',
    key: (op) => `${op.layer ?? ''}/${op.part ?? ''}`,
    label: (op) => `${layerName(op.layer)} / ${op.part ?? 'not placed'}`,
  },
  op: {text: 'operations', key: (op) => String(op.id), label: (op) => op.op},
};

function pointsOf(model: StepModel, by: By): {points: Point[]; without: number} {
  const naming = namings[by];
  const all = new Map<string, Point>();
  for (const op of model.step.ops) {
    const key = naming.key(op);
    let point = all.get(key);
    if (!point) {
      point = {key, label: naming.label(op), rows: [], us: 0, bytes: 0, flops: 0, hbm_us: 0, mxu_us: 0};
      all.set(key, point);
    }
    point.rows.push(op.id);
    point.us += op.us;
    point.bytes += op.hbm_bytes;
    point.flops += op.matmul_flops;
    point.hbm_us += op.hbm_us;
    point.mxu_us += op.mxu_us;
  }
  const points = [...all.values()].filter((point) => point.flops > 0 && point.bytes > 0 && point.us > 0);
  points.sort((a, b) => b.us - a.us);
  return {points: points.slice(0, mostPoints), without: all.size - points.length};
}

const usable = (roof: Roof) => roof.bytes_per_second > 0 && roof.flops_per_second > 0;
const ridge = (roof: Roof) => roof.flops_per_second / roof.bytes_per_second;
const intensityOf = (roof: Roof) => (roof.bytes > 0 && roof.flops > 0 ? roof.flops / roof.bytes : null);
const reachedBy = (roof: Roof, model: StepModel) =>
  model.step.total_us > 0 && roof.flops > 0 ? (roof.flops / model.step.total_us) * 1e6 : null;

type Scale = ReturnType<typeof scaleLog<number, number>>;

function scalesOf(model: StepModel, roofs: Roof[], points: Point[], width: number): {x: Scale; y: Scale; peak: number} {
  const marks = roofs.filter((roof) => intensityOf(roof) && reachedBy(roof, model));
  const xs = [...points.map(intensity), ...marks.map((roof) => intensityOf(roof)!), ...roofs.map(ridge)];
  const ys = [...points.map(rate), ...marks.map((roof) => reachedBy(roof, model)!)];
  const peak = max(roofs, (roof) => roof.flops_per_second)!;
  const low = Math.max(peak / 1e9, Math.min(peak / 1e3, (min(ys) ?? peak) / 2));
  return {
    x: scaleLog()
      .domain([Math.max(min(roofs, ridge)! / 1e5, min(xs)! / 3), max(xs)! * 4])
      .range([margin.left, width - margin.right]),
    y: scaleLog()
      .domain([low, peak * 2])
      .range([height - margin.bottom, margin.top]),
    peak,
  };
}

const tens = (scale: Scale) =>
  scale.ticks().filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);

const tickText = (tick: number) =>
  tick < 1 ? String(Number(tick.toPrecision(1))) : si(tick).replace(/\.0+(?= |$)/, '');

function Grid({x, y, width}: {x: Scale; y: Scale; width: number}) {
  return (
    <>
      {tens(x).map((tick) => (
        <g key={tick} class="grid">
          <line x1={x(tick)} x2={x(tick)} y1={margin.top} y2={height - margin.bottom} />
          <text x={x(tick)} y={height - margin.bottom + 14} text-anchor="middle">
            {tickText(tick)}
          </text>
        </g>
      ))}
      {tens(y).map((tick) => (
        <g key={tick} class="grid">
          <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} />
          <text x={margin.left - 5} y={y(tick) + 4} text-anchor="end">
            {tickText(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

/** A memory's slope with its rate written along it, and the flat of the peak. */
function RoofLine({roof, index, x, y}: {roof: Roof; index: number; x: Scale; y: Scale}) {
  const [low, high] = x.domain() as [number, number];
  const rateAt = (at: number) => Math.min(roof.flops_per_second, at * roof.bytes_per_second);
  const start = Math.max(low, y.domain()[0]! / roof.bytes_per_second);
  const top = Math.min(ridge(roof), high);
  const middle = start * (top / start) ** 0.8;
  const angle = (Math.atan2(y(rateAt(top)) - y(rateAt(start)), x(top) - x(start)) * 180) / Math.PI;
  return (
    <g class="roof">
      <path
        d={`M${x(start)},${y(rateAt(start))}L${x(top)},${y(rateAt(top))}L${x(high)},${y(rateAt(high))}`}
        stroke-dasharray={index ? `${6 - (index % 4)} ${2 + (index % 4)}` : undefined}
      />
      <text
        transform={`translate(${x(middle)},${y(rateAt(middle))}) rotate(${angle}) translate(0,-5)`}
        text-anchor="middle"
      >
        {roof.memory} {si(roof.bytes_per_second, 'B/s')}
      </text>
    </g>
  );
}

interface ChartProps {
  model: StepModel;
  roofs: Roof[];
  points: Point[];
  by: By;
  chosen: Set<number>;
}

function useBoxWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(760);
  useLayoutEffect(() => {
    const read = () => setWidth(Math.max(320, box.current!.clientWidth));
    read();
    const observer = new ResizeObserver(read);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return {box, width};
}

/** Names that do not run into those of slower points. */
function labelsOf(points: Point[], at: (point: Point) => readonly [number, number]): Set<Point> {
  const placed: [number, number, number][] = [];
  const free = points.slice(0, mostLabels).filter((point) => {
    const [x, y] = at(point);
    const right = x + 20 + point.label.length * 6.5;
    if (placed.some(([left, top, end]) => Math.abs(top - y) < 12 && x < end && left < right)) return false;
    placed.push([x, y, right]);
    return true;
  });
  return new Set(free);
}

function Chart({model, roofs, points, by, chosen}: ChartProps) {
  const {box, width} = useBoxWidth();
  const {x, y, peak} = scalesOf(model, roofs, points, width);
  const size = scaleSqrt()
    .domain([0, points[0]?.us ?? 1])
    .range([3, 12]);
  const low = y.domain()[0]!;
  const least = x.domain()[0]!;
  const at = (point: Point) => [x(Math.max(intensity(point), least)), y(Math.max(rate(point), low))] as const;
  const labelled = by === 'part' ? labelsOf(points, at) : new Set<Point>();
  const selected = (point: Point) => point.rows.every((row) => chosen.has(row));
  const choose = (point: Point) =>
    point.rows.length === 1 ? selectRow(model, point.rows[0]!) : selectRows(point.label, point.rows);
  const draw = (point: Point) => {
    const shape = shapes[boundOf(point)];
    const radius = size(point.us);
    const tip = () => [
      point.label,
      `${us(point.us)} us, ${int(point.rows.length)} ops`,
      `${si(intensity(point))} FLOP a byte, ${si(rate(point), 'FLOP/s')}`,
      `${si((point.bytes / point.us) * 1e6, 'B/s')}`,
      shape.text,
    ];
    return (
      <g
        key={point.key}
        class={`point bound-${boundOf(point)}${selected(point) ? ' selected' : ''}`}
        data-key={point.key}
        transform={`translate(${at(point).join()})`}
        onClick={() => choose(point)}
        onMouseMove={(event) => showTip(event.clientX, event.clientY, tip())}
        onMouseLeave={hideTip}
      >
        <path d={symbol(shape.type, radius * radius * 2.4)() ?? ''} />
        {labelled.has(point) && (
          <text x={radius + 4} y={4}>
            {point.label}
          </text>
        )}
      </g>
    );
  };
  const label = `roofline: ${points.length} ${namings[by].text} under the limits of ${roofs.map((roof) => roof.memory).join(', ')}; the table below holds the step's figures`;
  return (
    <div ref={box} class="chart">
      <svg id="roofline" width={width} height={height} role="img" aria-label={label}>
        <Grid x={x} y={y} width={width} />
        <text class="axis" x={(margin.left + width) / 2} y={height - 4} text-anchor="middle">
          FLOP of matrix products a byte (counted)
        </text>
        <text class="axis" transform={`translate(11,${height / 2}) rotate(-90)`} text-anchor="middle">
          FLOP/s ({model.step.origin})
        </text>
        {roofs.map((roof, index) => (
          <RoofLine key={roof.memory} roof={roof} index={index} x={x} y={y} />
        ))}
        <text class="axis" x={width - margin.right - 4} y={y(peak) - 5} text-anchor="end">
          {si(peak, 'FLOP/s')}
        </text>
        {points
          .map(draw)
          .sort((a, b) => Number(a.props.class.includes('selected')) - Number(b.props.class.includes('selected')))}
        {roofs
          .filter((roof) => intensityOf(roof) && reachedBy(roof, model))
          .map((roof) => (
            <g
              key={roof.memory}
              class="step-mark"
              transform={`translate(${x(intensityOf(roof)!)},${y(Math.max(reachedBy(roof, model)!, low))})`}
            >
              <path d={symbol(symbolDiamond, 160)() ?? ''} />
              <text x={11} y={4}>
                step, {roof.memory}
              </text>
            </g>
          ))}
      </svg>
    </div>
  );
}

function RoofTable({model, roofs}: {model: StepModel; roofs: Roof[]}) {
  return (
    <table class="plain wide">
      <thead>
        <tr>
          <th>step, by memory</th>
          <th class="num">
            FLOP <Tag origin="counted" />
          </th>
          <th class="num">
            bytes <Tag origin="counted" />
          </th>
          <th class="num">FLOP a byte</th>
          <th class="num">
            reached <Tag origin={model.step.origin} />
          </th>
          <th class="num">limit there</th>
          <th class="num">of the limit</th>
        </tr>
      </thead>
      <tbody>
        {roofs.map((roof) => {
          const at = intensityOf(roof);
          const limit = at === null ? null : Math.min(roof.flops_per_second, at * roof.bytes_per_second);
          const reached = reachedBy(roof, model);
          return (
            <tr key={roof.memory}>
              <td>{roof.memory}</td>
              <td class="num">{si(roof.flops)}</td>
              <td class="num">{bytes(roof.bytes)}</td>
              <td class="num">{si(at)}</td>
              <td class="num">{si(reached, 'FLOP/s')}</td>
              <td class="num">{si(limit, 'FLOP/s')}</td>
              <td class="num">{percent(limit && reached !== null ? reached / limit : null)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function Roofline({model, state}: {model: StepModel; state: State}) {
  const [by, setBy] = useState<By>('part');
  const roofs = model.roofs.filter(usable);
  const {points, without} = useMemo(() => pointsOf(model, by), [model, by]);
  const chosen = useMemo(
    () => new Set(state.selection && state.selection.rows.length < model.step.ops.length ? state.selection.rows : []),
    [state.selection, model],
  );
  if (!roofs.length) {
    return (
      <section>
        <h2>Roofline</h2>
        <p class="empty">This step has no roofline: no limits, or nothing computed.</p>
      </section>
    );
  }
  return (
    <section>
      <h2>
        Roofline <span class="dim">limits</span> <Tag origin={roofs[0]!.origins[0]} />
        <span class="dim">points</span> <Tag origin={model.step.origin} />
        <select
          id="roofline-by"
          aria-label="points"
          value={by}
          onChange={(event) => setBy(event.currentTarget.value as By)}
        >
          {Object.entries(namings).map(([key, naming]) => (
            <option key={key} value={key}>
              {naming.text}
            </option>
          ))}
        </select>
      </h2>
      <p class="legend">
        {Object.values(shapes).map((shape) => (
          <span key={shape.text}>
            <svg width="14" height="14" aria-hidden="true">
              <path class="key" transform="translate(7,7)" d={symbol(shape.type, 60)() ?? ''} />
            </svg>{' '}
            {shape.text}
          </span>
        ))}
        <span>area: time; bytes: HBM</span>
      </p>
      <Chart model={model} roofs={roofs} points={points} by={by} chosen={chosen} />
      <RoofTable model={model} roofs={roofs} />
      <p class="dim">
        {int(points.length)} {namings[by].text} drawn{points.length === mostPoints ? ', the slowest' : ''};{' '}
        {int(without)} have no matrix product, no HBM bytes or no time of their own. Above a slope: its bytes came while
        others ran (a prefetch counts where it is issued).
      </p>
    </section>
  );
}
