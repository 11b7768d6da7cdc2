// Memory over the schedule, a chart for each memory; the cursor says what lives there.
import {scaleLinear} from 'd3-scale';
import {useMemo, useState} from 'preact/hooks';
import {selectRows} from '../actions';
import {Canvas, type Painter} from '../parts/canvas';
import {Table, type Column} from '../parts/table';
import {Tag} from '../parts/tag';
import {bytes, int, percent} from '../format';
import {livesAt, liveOf, positionsOf, whats, type Live} from '../live';
import {update, type State} from '../store';
import type {StepModel} from '../model';
import type {Buffer} from '../schema';

const left = 62;
const chartHeight = 132;
const letters: Record<string, string> = {argument: 'A', state: 'S', constant: 'C', result: 'R', temporary: 'T'};

function livesOf(model: StepModel): Live[] {
  const {step, report} = model;
  const names = [...new Set(step.buffers.map((buffer) => buffer.memory))];
  const order = ['hbm', 'vmem', 'cmem', 'smem'];
  const charted = names.filter((name) => ['hbm', 'vmem', 'cmem'].includes(name));
  if (charted.length) names.splice(0, names.length, ...charted); // the others are small: in the table
  names.sort((a, b) => (order.indexOf(a) + 1 || 9) - (order.indexOf(b) + 1 || 9));
  return names.map((memory) => {
    const live = liveOf(step, memory);
    if (memory === 'hbm' && step.memory?.usable_bytes)
      return {...live, limit: step.memory.usable_bytes, limit_text: 'usable', limit_origin: step.memory.origin};
    const vmem = memory === 'vmem' ? report.vmem_bytes : null;
    return vmem ? {...live, limit: vmem.value, limit_text: 'capacity', limit_origin: vmem.origin} : live;
  });
}

/** What is there all the time, where it would flatten all that changes. */
function baseOf(live: Live, changing: boolean): number {
  const steady = [...live.steady.values()].reduce((sum, bytes) => sum + bytes, 0);
  const peak = live.total[live.peak]!;
  return changing && steady < peak && steady > peak / 2 ? steady : 0;
}

function draw(painter: Painter, live: Live, cursor: number, marks: number[], changing: boolean): void {
  const {context, ink, width} = painter;
  const hidden = baseOf(live, changing);
  const most = live.total[live.peak]! - hidden || 1;
  const showLimit = hidden === 0 && live.limit !== null && live.limit < most * 4;
  const y = scaleLinear()
    .domain([0, Math.max(most * 1.05, showLimit ? live.limit! * 1.02 : 0)])
    .range([chartHeight - 16, 6]);
  const x = (position: number) => left + (position / live.positions) * (width - left);
  context.font = `11px ${painter.font}`;
  for (const tick of y.ticks(3)) {
    context.fillStyle = ink.line;
    context.fillRect(left, Math.round(y(tick)), width - left, 1);
    context.fillStyle = ink.dim;
    context.textAlign = 'right';
    context.fillText(bytes(tick), left - 5, y(tick) + 4);
  }
  context.textAlign = 'left';
  const columns = Math.max(1, Math.floor(width - left));
  for (let i = 0; i < columns; ++i) {
    // Of the positions in a pixel the fullest one is drawn: no peak is lost.
    const from = Math.floor((i / columns) * live.positions);
    const to = Math.max(from + 1, Math.floor(((i + 1) / columns) * live.positions));
    let at = from;
    for (let p = from; p < Math.min(to, live.positions); ++p) if (live.total[p]! > live.total[at]!) at = p;
    let base = 0;
    for (const what of whats) {
      const value = live.sums.get(what)![at]! - (hidden > 0 ? live.steady.get(what)! : 0);
      if (value <= 0) continue;
      context.fillStyle = painter.fill(what);
      context.fillRect(left + i, y(base + value), 1.05, y(base) - y(base + value));
      base += value;
    }
  }
  context.fillStyle = ink.mark;
  for (const mark of marks) context.fillRect(x(mark), chartHeight - 15, Math.max(2, x(mark + 1) - x(mark)), 4);
  if (showLimit) {
    context.setLineDash([6, 4]);
    context.strokeStyle = ink.text;
    context.beginPath();
    context.moveTo(left, y(live.limit!));
    context.lineTo(width, y(live.limit!));
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = ink.text;
    context.fillText(`${live.limit_text} ${bytes(live.limit)}`, left + 6, y(live.limit!) - 3);
  }
  const center = x(cursor + 0.5);
  context.fillStyle = ink.mark;
  context.fillRect(Math.round(center) - 1, 0, 2, chartHeight - 12);
  context.fillStyle = ink.dim;
  context.fillText('0', left, chartHeight - 2);
  context.textAlign = 'right';
  context.fillText(`position ${int(live.positions - 1)} of the schedule`, width - 2, chartHeight - 2);
  context.textAlign = 'left';
}

function Life({buffer, positions, cursor}: {buffer: Buffer; positions: number; cursor: number}) {
  const part = (value: number) => `${(Math.max(0, Math.min(positions, value)) / positions) * 100}%`;
  return (
    <span class="life" title={`${buffer.first} to ${buffer.last}`}>
      <span style={{left: part(buffer.first), right: `calc(100% - ${part(buffer.last + 1)})`}} />
      <i style={{left: part(cursor + 0.5)}} />
    </span>
  );
}

const sum = (rows: Buffer[], value: (buffer: Buffer) => number) =>
  rows.reduce((total, buffer) => total + value(buffer), 0);

function columnsOf(positions: number, cursor: number): Column<Buffer>[] {
  return [
    {key: 'memory', label: 'memory', width: '60px', value: (buffer) => buffer.memory},
    {
      key: 'what',
      label: 'what',
      width: '92px',
      value: (buffer) => buffer.what,
      show: (buffer) => (
        <>
          <span class={`swatch g g-${buffer.what}`} aria-hidden="true">
            {letters[buffer.what] ?? '?'}
          </span>{' '}
          {buffer.what}
        </>
      ),
    },
    {
      key: 'op',
      label: 'buffer of',
      width: 'minmax(120px,1fr)',
      value: (buffer) => buffer.op,
      total: () => 'lives here',
    },
    {
      key: 'bytes',
      label: 'bytes',
      width: '92px',
      num: true,
      origin: 'compiler',
      value: (buffer) => buffer.bytes,
      show: (buffer) => <span title={`${int(buffer.bytes)} B`}>{bytes(buffer.bytes)}</span>,
      total: (rows) => (
        <span data-total={sum(rows, (buffer) => buffer.bytes)}>{bytes(sum(rows, (buffer) => buffer.bytes))}</span>
      ),
    },
    {
      key: 'life',
      label: 'lives over the schedule',
      width: 'minmax(140px,1fr)',
      value: (buffer) => buffer.last - buffer.first,
      show: (buffer) => <Life buffer={buffer} positions={positions} cursor={cursor} />,
    },
    {
      key: 'data',
      label: 'data',
      width: '84px',
      num: true,
      origin: 'counted',
      value: (buffer) => buffer.data_bytes,
      show: (buffer) => bytes(buffer.data_bytes),
    },
    {
      key: 'first',
      label: 'from',
      width: '54px',
      num: true,
      value: (buffer) => buffer.first,
      title: 'position in the schedule',
    },
    {key: 'last', label: 'to', width: '54px', num: true, value: (buffer) => buffer.last},
    {key: 'shape', label: 'shape', width: 'minmax(140px,1.3fr)', origin: 'compiler', value: (buffer) => buffer.shape},
  ];
}

export function MemoryTab({model, state}: {model: StepModel; state: State}) {
  const {step} = model;
  const lives = useMemo(() => livesOf(model), [model]);
  const [changing, setChanging] = useState(true);
  const positions = positionsOf(step);
  const cursor = Math.min(state.cursor, positions - 1);
  const rows = useMemo(() => livesAt(step, cursor), [step, cursor]);
  const columns = useMemo(() => columnsOf(positions, cursor), [positions, cursor]);
  const names = useMemo(
    () =>
      new Set(
        state.selection && state.selection.rows.length < step.ops.length
          ? state.selection.rows.map((row) => model.ops.get(row)?.op ?? '')
          : [],
      ),
    [state.selection, model],
  );
  const marks = useMemo(
    () => step.schedule.flatMap((name, position) => (names.has(name) ? [position] : [])),
    [step, names],
  );
  if (!step.buffers.length) return <p class="empty">No buffers are listed for this step.</p>;
  const move = (to: number) => update({cursor: Math.max(0, Math.min(positions - 1, Math.round(to)))});
  const keys = (event: KeyboardEvent) => {
    const far = event.shiftKey ? 10 : 1;
    const moves: Record<string, number> = {
      ArrowLeft: cursor - far,
      ArrowRight: cursor + far,
      Home: 0,
      End: positions - 1,
      PageUp: cursor - 50,
      PageDown: cursor + 50,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    move(to);
    event.preventDefault();
    event.stopPropagation();
  };
  const here = step.schedule[cursor];
  const hereRows = here === undefined ? undefined : model.rowsOfOp.get(here);
  return (
    <div class="stack" id="memory">
      <div class="tools">
        <span>
          cursor at{' '}
          <b class="mono" id="cursor" data-position={cursor}>
            {int(cursor)}
          </b>
          {here !== undefined && (
            <>
              {' '}
              {hereRows ? (
                <button type="button" class="link mono" onClick={() => selectRows(here, hereRows)}>
                  {here}
                </button>
              ) : (
                <code>{here}</code>
              )}
            </>
          )}
        </span>
        {lives.map((live) => (
          <button key={live.memory} type="button" onClick={() => move(live.peak)}>
            {live.memory} peak {bytes(live.total[live.peak])}
          </button>
        ))}
        <button type="button" aria-pressed={changing} class="filter" onClick={() => setChanging(!changing)}>
          {changing ? 'only what changes' : 'all bytes'}
        </button>
        {marks.length > 0 && (
          <button type="button" onClick={() => move(marks[0]!)}>
            to the selection
          </button>
        )}
        <span class="legend">
          {whats.map((what) => (
            <span key={what}>
              <span class={`swatch g g-${what}`} aria-hidden="true">
                {letters[what]}
              </span>{' '}
              {what}
            </span>
          ))}
        </span>
      </div>
      {lives.map((live) => (
        <div key={live.memory} class="canvas-box memory-box">
          <div class="memory-head">
            <b>{live.memory}</b> <Tag origin="compiler" />{' '}
            <span class="mono" data-memory={live.memory} data-bytes={live.total[cursor]}>
              {bytes(live.total[cursor])}
            </span>{' '}
            at the cursor
            {live.limit !== null && (
              <span class="dim">
                , {percent(live.total[cursor]! / live.limit)} of {bytes(live.limit)} {live.limit_text}{' '}
                <Tag origin={live.limit_origin} />
              </span>
            )}
            {baseOf(live, changing) > 0 && (
              <span class="dim">; drawn without {bytes(baseOf(live, changing))} that are there all the time</span>
            )}
          </div>
          <Canvas
            id={`memory-${live.memory}`}
            height={chartHeight}
            label={`bytes in ${live.memory} over the schedule; peak ${bytes(live.total[live.peak])} at position ${live.peak}; arrow keys move the cursor`}
            draw={(painter) => draw(painter, live, cursor, marks, changing)}
            deps={[live, cursor, marks, changing]}
            onKey={keys}
            onClick={(x, _y, event) =>
              move(((x - left) / ((event.currentTarget as HTMLElement).clientWidth - left)) * positions - 0.5)
            }
            onPoint={(x, _y, event) => {
              if (event.buttons === 1)
                move(((x - left) / ((event.currentTarget as HTMLElement).clientWidth - left)) * positions - 0.5);
            }}
          />
        </div>
      ))}
      <Table
        id="living"
        label="buffers at the cursor"
        columns={columns}
        rows={rows}
        sort={['bytes', 'down']}
        rowKey={(buffer) => `${buffer.op} ${buffer.memory} ${buffer.first} ${buffer.shape}`}
        empty="Nothing lives here."
        text={(buffer) => `${buffer.op} ${buffer.shape} ${buffer.memory} ${buffer.what}`}
        selected={(buffer) => names.has(buffer.op)}
        onSelect={(buffer) => {
          const found = model.rowsOfOp.get(buffer.op);
          if (found) selectRows(buffer.op, found);
        }}
      />
    </div>
  );
}
