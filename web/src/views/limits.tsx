// Units and memories against their limits, and the roofline: where each operation stands between bytes and FLOP.
import {max, min} from 'd3-array';
import {scaleLog, scaleSqrt} from 'd3-scale';
import {symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle} from 'd3-shape';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {selectRow} from '../actions';
import {Tag} from '../parts/tag';
import {hideTip, showTip} from '../parts/tooltip';
import {bytes, percent, si, us} from '../format';
import type {StepModel} from '../model';
import type {State} from '../store';
import type {Op, Roofline as Roof} from '../schema';
import {SpeedOfLight} from './speed_of_light';

interface Point {
  op: Op;
  intensity: number;
  rate: number;
}
const mostPoints = 1500;
const height = 400;
const margin = {left: 62, right: 12, top: 12, bottom: 36};
const shapes: Record<string, {type: typeof symbolCircle; text: string}> = {
  hbm: {type: symbolCircle, text: 'HBM-bound by the datasheet'},
  mxu: {type: symbolSquare, text: 'MXU-bound'},
  none: {type: symbolTriangle, text: 'neither'},
};

function pointsOf(model: StepModel): {points: Point[]; without: number} {
  const points: Point[] = [];
  for (const op of model.step.ops) {
    if (op.flops && op.hbm_bytes > 0 && op.us > 0)
      points.push({op, intensity: op.flops / op.hbm_bytes, rate: (op.flops / op.us) * 1e6});
  }
  points.sort((a, b) => b.op.us - a.op.us);
  return {points: points.slice(0, mostPoints), without: model.step.ops.length - points.length};
}

const usable = (roof: Roof) => roof.limit_bytes_per_second > 0 && roof.limit_flops_per_second > 0;
const attainable = (roof: Roof) =>
  roof.intensity === null ? null : Math.min(roof.limit_flops_per_second, roof.intensity * roof.limit_bytes_per_second);

function Chart({
  model,
  roofs,
  points,
  chosen,
}: {
  model: StepModel;
  roofs: Roof[];
  points: Point[];
  chosen: Set<number>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(760);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(Math.max(320, box.current!.clientWidth)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const marks = roofs.filter((roof) => roof.intensity && roof.reached_flops_per_second);
  const ridges = roofs.map((roof) => roof.limit_flops_per_second / roof.limit_bytes_per_second);
  const xs = [...points.map((point) => point.intensity), ...marks.map((roof) => roof.intensity!), ...ridges];
  const peak = max(roofs, (roof) => roof.limit_flops_per_second)!;
  const ys = [...points.map((point) => point.rate), ...marks.map((roof) => roof.reached_flops_per_second!)];
  const x = scaleLog()
    .domain([Math.max(1e-4, min(xs)! / 3), max(xs)! * 4])
    .range([margin.left, width - margin.right]);
  const y = scaleLog()
    .domain([Math.max(peak / 1e9, Math.min(peak / 1e3, (min(ys) ?? peak) / 2)), peak * 2])
    .range([height - margin.bottom, margin.top]);
  const size = scaleSqrt()
    .domain([0, max(points, (point) => point.op.us) ?? 1])
    .range([3, 13]);
  const tens = (scale: typeof x) =>
    scale.ticks().filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);
  const roofPath = (roof: Roof) => {
    const [low, high] = x.domain() as [number, number];
    const ridge = roof.limit_flops_per_second / roof.limit_bytes_per_second;
    const level = Math.max(low * roof.limit_bytes_per_second, y.domain()[0]!);
    return `M${x(level / roof.limit_bytes_per_second)},${y(level)}L${x(Math.min(ridge, high))},${y(Math.min(ridge, high) * roof.limit_bytes_per_second)}L${x(high)},${y(Math.min(roof.limit_flops_per_second, high * roof.limit_bytes_per_second))}`;
  };
  const point = (entry: Point) => {
    const shape = shapes[entry.op.bound] ?? shapes['none']!;
    const radius = size(entry.op.us);
    return (
      <path
        key={entry.op.id}
        class={`point bound-${entry.op.bound}${chosen.has(entry.op.id) ? ' selected' : ''}`}
        data-op={entry.op.id}
        transform={`translate(${x(entry.intensity)},${y(Math.max(entry.rate, y.domain()[0]!))})`}
        d={symbol(shape.type, radius * radius * 2)() ?? ''}
        onClick={() => selectRow(model, entry.op.id)}
        onMouseMove={(event) =>
          showTip(event.clientX, event.clientY, [
            entry.op.op,
            `${us(entry.op.us)} us`,
            `${si(entry.intensity, 'FLOP/B')}`,
            `${si(entry.rate, 'FLOP/s')}`,
            shape.text,
          ])
        }
        onMouseLeave={hideTip}
      />
    );
  };
  return (
    <div ref={box} class="chart">
      <svg
        id="roofline"
        width={width}
        height={height}
        role="img"
        aria-label={`roofline: ${points.length} operations under the limits of ${roofs.map((roof) => roof.memory).join(', ')}; the table below holds the step's figures`}
      >
        {tens(x).map((tick) => (
          <g key={tick} class="grid">
            <line x1={x(tick)} x2={x(tick)} y1={margin.top} y2={height - margin.bottom} />
            <text x={x(tick)} y={height - margin.bottom + 14} text-anchor="middle">
              {si(tick)}
            </text>
          </g>
        ))}
        {tens(y).map((tick) => (
          <g key={tick} class="grid">
            <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} />
            <text x={margin.left - 5} y={y(tick) + 4} text-anchor="end">
              {si(tick)}
            </text>
          </g>
        ))}
        <text class="axis" x={(margin.left + width) / 2} y={height - 4} text-anchor="middle">
          FLOP a byte (counted)
        </text>
        <text class="axis" transform={`translate(11,${height / 2}) rotate(-90)`} text-anchor="middle">
          FLOP/s ({model.step.origin})
        </text>
        {roofs.map((roof, index) => (
          <g key={roof.memory} class="roof">
            <path d={roofPath(roof)} stroke-dasharray={index ? `${6 - index} ${2 + index}` : undefined} />
            <text
              x={x(roof.limit_flops_per_second / roof.limit_bytes_per_second) - 10}
              y={y(roof.limit_flops_per_second) + 4}
              text-anchor="end"
            >
              {roof.memory} {si(roof.limit_bytes_per_second, 'B/s')}
            </text>
          </g>
        ))}
        <text class="axis" x={width - margin.right - 4} y={y(peak) - 5} text-anchor="end">
          {si(peak, 'FLOP/s')}
        </text>
        {[...points].sort((a, b) => Number(chosen.has(a.op.id)) - Number(chosen.has(b.op.id))).map(point)}
        {marks.map((roof) => (
          <g
            key={roof.memory}
            class="step-mark"
            transform={`translate(${x(roof.intensity!)},${y(Math.max(roof.reached_flops_per_second!, y.domain()[0]!))})`}
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

function Roofline({model, state}: {model: StepModel; state: State}) {
  const roofs = model.step.roofline.filter(usable);
  const {points, without} = useMemo(() => pointsOf(model), [model]);
  const chosen = useMemo(
    () => new Set(state.selection && state.selection.rows.length < model.step.ops.length ? state.selection.rows : []),
    [state.selection, model],
  );
  if (!roofs.length)
    return (
      <section>
        <h2>Roofline</h2>
        <p class="empty">This step has no roofline: no limits, or nothing computed.</p>
      </section>
    );
  return (
    <section>
      <h2>
        Roofline <span class="dim">limits</span>{' '}
        <Tag origin={model.report.limits.find((limit) => limit.name === 'hbm')?.origin} />{' '}
        <span class="dim">points</span> <Tag origin={model.step.origin} />
      </h2>
      <p class="legend">
        {Object.values(shapes).map((shape) => (
          <span key={shape.text}>
            <svg width="14" height="14" aria-hidden="true">
              <path class="key" transform="translate(7,7)" d={symbol(shape.type, 60)() ?? ''} />
            </svg>{' '}
            {shape.text}
          </span>
        ))}{' '}
        <span>area: time; bytes of operations are HBM's</span>
      </p>
      <Chart model={model} roofs={roofs} points={points} chosen={chosen} />
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
            <th class="num">
              limit there <Tag origin="datasheet" />
            </th>
            <th class="num">of the limit</th>
          </tr>
        </thead>
        <tbody>
          {roofs.map((roof) => {
            const limit = attainable(roof);
            return (
              <tr key={roof.memory}>
                <td>{roof.memory}</td>
                <td class="num">{si(roof.flops)}</td>
                <td class="num">{bytes(roof.bytes)}</td>
                <td class="num">{si(roof.intensity)}</td>
                <td class="num">{si(roof.reached_flops_per_second, 'FLOP/s')}</td>
                <td class="num">{si(limit, 'FLOP/s')}</td>
                <td class="num">
                  {percent(
                    limit && roof.reached_flops_per_second !== null ? roof.reached_flops_per_second / limit : null,
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="dim">
        {points.length} operations are drawn{points.length === mostPoints ? ', the slowest' : ''}; {without} have no
        FLOP, no HBM bytes or no time of their own.
      </p>
    </section>
  );
}

export function Limits({model, state}: {model: StepModel; state: State}) {
  const rows = state.selection ? state.selection.rows : null;
  return (
    <div class="page-scroll">
      {state.selection && <p class="dim">selected: {state.selection.title}</p>}
      <SpeedOfLight model={model} rows={rows} />
      <Roofline model={model} state={state} />
    </div>
  );
}
