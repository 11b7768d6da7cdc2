// Transfers between memories: how long each was under way, and how much of that somebody waited for.
import {useMemo} from 'preact/hooks';
import {selectRow} from '../actions';
import {SelectionFilter} from '../parts/selection_filter';
import {Table, type Column} from '../parts/table';
import {Tag} from '../parts/tag';
import {bytes, int, percent} from '../format';
import type {StepModel} from '../model';
import type {State} from '../store';
import type {Transfer} from '../schema';

interface Line extends Transfer {
  index: number;
  op: string;
  kernel_name: string;
}

/** Hidden: nobody waited. Exposed: at least half of its time was waited for. */
function verdict(transfer: Transfer): 'hidden' | 'partly' | 'exposed' {
  if (transfer.waited_cycles <= 0) return 'hidden';
  return transfer.waited_cycles * 2 >= transfer.flight_cycles ? 'exposed' : 'partly';
}
const exposed = (transfer: Transfer) =>
  transfer.flight_cycles > 0 ? Math.min(1, transfer.waited_cycles / transfer.flight_cycles) : 0;
const total = (rows: Line[], value: (line: Line) => number) => rows.reduce((sum, line) => sum + value(line), 0);

function columnsOf(origin: string): Column<Line>[] {
  return [
    {
      key: 'op',
      label: 'operation',
      width: 'minmax(120px,1fr)',
      value: (line) => line.op,
      total: () => 'total of these rows',
    },
    {key: 'route', label: 'from \u2192 to', width: '110px', value: (line) => `${line.from} \u2192 ${line.to}`},
    {
      key: 'verdict',
      label: 'verdict',
      width: '64px',
      value: (line) => verdict(line),
      title: 'hidden: nobody waited; exposed: half of its time or more was waited for',
    },
    {
      key: 'exposed',
      label: 'exposed',
      width: '112px',
      value: (line) => exposed(line),
      show: (line) => (
        <span class={`verdict ${verdict(line)}`}>
          <span class="meter">
            <span style={{width: `${exposed(line) * 100}%`}} />
          </span>
          <span class="num">{percent(exposed(line), 0)}</span>
        </span>
      ),
    },
    {
      key: 'waited',
      label: 'waited for',
      width: '102px',
      num: true,
      origin,
      value: (line) => line.waited_cycles,
      show: (line) => int(line.waited_cycles),
      title: 'cycles that the sequencer waited for it',
      total: (rows) => int(total(rows, (line) => line.waited_cycles)),
    },
    {
      key: 'flight',
      label: 'under way',
      width: '102px',
      num: true,
      origin,
      value: (line) => line.flight_cycles,
      show: (line) => int(line.flight_cycles),
      title: 'cycles from issue to completion',
      total: (rows) => int(total(rows, (line) => line.flight_cycles)),
    },
    {
      key: 'bytes',
      label: 'bytes',
      width: '84px',
      num: true,
      origin,
      value: (line) => line.bytes,
      show: (line) => bytes(line.bytes),
      total: (rows) => (
        <span data-total={total(rows, (line) => line.bytes)}>{bytes(total(rows, (line) => line.bytes))}</span>
      ),
    },
    {
      key: 'count',
      label: 'count',
      width: '60px',
      num: true,
      origin,
      value: (line) => line.count,
      show: (line) => int(line.count),
      total: (rows) => int(total(rows, (line) => line.count)),
    },
    {
      key: 'pieces',
      label: 'pieces',
      width: '70px',
      num: true,
      value: (line) => line.pieces,
      show: (line) => int(line.pieces),
      title: 'contiguous runs',
      total: (rows) => int(total(rows, (line) => line.pieces)),
    },
    {
      key: 'piece',
      label: 'B a piece',
      width: '70px',
      num: true,
      value: (line) => (line.pieces ? line.bytes / line.pieces : null),
      show: (line) => (line.pieces ? bytes(line.bytes / line.pieces) : '-'),
    },
    {key: 'kernel', label: 'kernel', width: 'minmax(80px,0.7fr)', value: (line) => line.kernel_name},
    {
      key: 'bundle',
      label: 'bundle',
      width: '54px',
      num: true,
      value: (line) => line.bundle,
      show: (line) => int(line.bundle),
    },
    {
      key: 'remote',
      label: 'remote',
      width: '66px',
      title: 'to another chip',
      value: (line) => (line.remote ? 'yes' : ''),
    },
  ];
}

function Routes({lines, origin}: {lines: Line[]; origin: string}) {
  const routes = new Map<string, {bytes: number; count: number; waited: number; flight: number}>();
  for (const line of lines) {
    const key = `${line.from} \u2192 ${line.to}${line.remote ? ' remote' : ''}`;
    const entry = routes.get(key) ?? {bytes: 0, count: 0, waited: 0, flight: 0};
    entry.bytes += line.bytes;
    entry.count += line.count;
    entry.waited += line.waited_cycles;
    entry.flight += line.flight_cycles;
    routes.set(key, entry);
  }
  return (
    <table class="plain strip">
      <thead>
        <tr>
          <th>
            route <Tag origin={origin} />
          </th>
          <th class="num">transfers</th>
          <th class="num">bytes</th>
          <th class="num">waited for, cycles</th>
          <th class="num">of time under way</th>
        </tr>
      </thead>
      <tbody>
        {[...routes]
          .sort((a, b) => b[1].bytes - a[1].bytes)
          .map(([route, entry]) => (
            <tr key={route}>
              <td>{route}</td>
              <td class="num">{int(entry.count)}</td>
              <td class="num">{bytes(entry.bytes)}</td>
              <td class="num">{int(entry.waited)}</td>
              <td class="num">{percent(entry.flight ? entry.waited / entry.flight : null)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

export function Transfers({model, state}: {model: StepModel; state: State}) {
  const {step} = model;
  const all = useMemo(
    () =>
      step.transfers.map((transfer, index): Line => ({
        ...transfer,
        index,
        op: transfer.row === null ? '' : (model.ops.get(transfer.row)?.op ?? `row ${transfer.row}`),
        kernel_name: transfer.kernel === null ? '' : (model.kernels.get(transfer.kernel)?.name ?? `${transfer.kernel}`),
      })),
    [model],
  );
  const chosen = useMemo(() => new Set(state.selection?.rows ?? []), [state.selection]);
  const lines = useMemo(
    () =>
      state.only_selected && state.selection ? all.filter((line) => line.row !== null && chosen.has(line.row)) : all,
    [all, state.only_selected, chosen],
  );
  const columns = useMemo(() => columnsOf(step.origin), [step]);
  return (
    <div class="stack">
      {all.length > 0 && <Routes lines={lines} origin={step.origin} />}
      <Table
        id="transfers"
        label="transfers"
        columns={columns}
        rows={lines}
        sort={['waited', 'down']}
        rowKey={(line) => line.index}
        empty={
          step.rung === 'bundles'
            ? 'This step moves nothing between memories.'
            : 'No transfers: nothing was executed on this rung.'
        }
        text={(line) =>
          `${line.op} ${line.kernel_name} ${line.from} ${line.to} ${verdict(line)} ${line.remote ? 'remote' : ''}`
        }
        selected={(line) => line.row !== null && chosen.has(line.row) && chosen.size < model.step.ops.length}
        onSelect={(line) => {
          if (line.row !== null) selectRow(model, line.row);
        }}
        tools={<SelectionFilter state={state} />}
      />
    </div>
  );
}
