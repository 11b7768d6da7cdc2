// Buffers whose place in memory is larger than their data: what tiles and layouts cost.
import {useMemo, useState} from 'preact/hooks';
import {selectRows} from '../actions';
import {Table, type Column} from '../parts/table';
import {bytes, int, percent} from '../format';
import type {StepModel} from '../model';
import type {Buffer} from '../schema';

interface Line extends Buffer {
  index: number;
  waste: number;
}

const total = (rows: Line[], value: (line: Line) => number) => rows.reduce((sum, line) => sum + value(line), 0);

/** "f32[8,8192]{1,0:T(8,128)}": what is in the braces. */
export function layoutOf(shape: string): string {
  return /\{([^}]*)\}/.exec(shape)?.[1] ?? '-';
}

const columns: Column<Line>[] = [
  {
    key: 'op',
    label: 'buffer of',
    width: 'minmax(130px,1.2fr)',
    value: (line) => line.op,
    total: () => 'total of these rows',
  },
  {
    key: 'shape',
    label: 'shape',
    width: 'minmax(150px,1.4fr)',
    origin: 'compiler',
    value: (line) => line.shape.replace(/\{[^}]*\}/g, ''),
  },
  {
    key: 'layout',
    label: 'layout',
    width: 'minmax(110px,1fr)',
    origin: 'compiler',
    value: (line) => layoutOf(line.shape),
    title: 'minor to major, tiles, memory space',
  },
  {
    key: 'waste',
    label: 'padding',
    width: '100px',
    num: true,
    origin: 'counted',
    value: (line) => line.waste,
    show: (line) => bytes(line.waste),
    total: (rows) => (
      <span data-total={total(rows, (line) => line.waste)}>{bytes(total(rows, (line) => line.waste))}</span>
    ),
  },
  {
    key: 'share',
    label: 'padding %',
    width: '104px',
    value: (line) => (line.bytes ? line.waste / line.bytes : 0),
    show: (line) => (
      <span class="verdict exposed">
        <span class="meter">
          <span style={{width: `${(line.bytes ? line.waste / line.bytes : 0) * 100}%`}} />
        </span>
        <span class="num">{percent(line.bytes ? line.waste / line.bytes : 0, 0)}</span>
      </span>
    ),
  },
  {
    key: 'times',
    label: 'x data',
    width: '56px',
    num: true,
    value: (line) => (line.data_bytes ? line.bytes / line.data_bytes : null),
    show: (line) => (line.data_bytes ? (line.bytes / line.data_bytes).toFixed(2) : '-'),
  },
  {
    key: 'bytes',
    label: 'bytes',
    width: '86px',
    num: true,
    origin: 'compiler',
    value: (line) => line.bytes,
    show: (line) => <span title={`${int(line.bytes)} B`}>{bytes(line.bytes)}</span>,
    total: (rows) => (
      <span data-total={total(rows, (line) => line.bytes)}>{bytes(total(rows, (line) => line.bytes))}</span>
    ),
  },
  {
    key: 'data',
    label: 'data',
    width: '86px',
    num: true,
    origin: 'counted',
    value: (line) => line.data_bytes,
    show: (line) => bytes(line.data_bytes),
    total: (rows) => bytes(total(rows, (line) => line.data_bytes ?? line.bytes)),
  },
  {key: 'memory', label: 'memory', width: '62px', value: (line) => line.memory},
  {key: 'what', label: 'what', width: '80px', value: (line) => line.what},
];

export function Layouts({model}: {model: StepModel}) {
  const [padded, setPadded] = useState(true);
  const all = useMemo(
    () =>
      model.step.buffers.map((buffer, index): Line => ({
        ...buffer,
        index,
        waste: buffer.data_bytes === null ? 0 : Math.max(0, buffer.bytes - buffer.data_bytes),
      })),
    [model],
  );
  const rows = useMemo(() => (padded ? all.filter((line) => line.waste > 0) : all), [all, padded]);
  return (
    <Table
      id="layouts"
      label="layouts and padding"
      columns={columns}
      rows={rows}
      sort={['waste', 'down']}
      rowKey={(line) => line.index}
      empty={all.length ? 'No buffer is larger than its data.' : 'No buffers are listed for this step.'}
      text={(line) => `${line.op} ${line.shape} ${line.memory} ${line.what}`}
      onSelect={(line) => {
        const rows = model.rowsOfOp.get(line.op);
        if (rows) selectRows(line.op, rows);
      }}
      tools={
        <button type="button" class="filter" aria-pressed={padded} onClick={() => setPadded(!padded)}>
          {padded ? 'only padded buffers' : 'all buffers'}
        </button>
      }
    />
  );
}
