// Every operation, to sort and filter.
import {useMemo} from 'preact/hooks';
import {selectRow} from '../actions';
import {CauseBar} from '../parts/cause_bar';
import {SelectionFilter} from '../parts/selection_filter';
import {Table, type Column} from '../parts/table';
import {bytes, int, percent, si, us} from '../format';
import type {StepModel} from '../model';
import type {State} from '../store';
import type {Op} from '../schema';

const total = (rows: Op[], value: (op: Op) => number | null) => rows.reduce((sum, op) => sum + (value(op) ?? 0), 0);

function columnsOf(model: StepModel): Column<Op>[] {
  const {step} = model;
  return [
    {key: 'id', label: '#', width: '44px', num: true, value: (op) => op.id, title: 'order of execution'},
    {
      key: 'op',
      label: 'operation',
      width: 'minmax(130px,1.4fr)',
      value: (op) => op.op,
      total: () => 'total of these rows',
    },
    {
      key: 'layer',
      label: 'layer',
      width: '42px',
      num: true,
      value: (op) => (op.layer === '*' ? -1 : op.layer),
      show: (op) => op.layer ?? '',
    },
    {key: 'part', label: 'part', width: 'minmax(104px,1fr)', value: (op) => op.part},
    {key: 'kind', label: 'kind', width: '88px', value: (op) => op.kind},
    {
      key: 'us',
      label: 'us',
      width: '74px',
      num: true,
      origin: 'row',
      value: (op) => op.us,
      show: (op) => us(op.us),
      total: (rows) => us(total(rows, (op) => op.us)),
    },
    {
      key: 'share',
      label: '%',
      width: '46px',
      num: true,
      value: (op) => op.us,
      show: (op) => (step.total_us > 0 ? percent(op.us / step.total_us).replace(' %', '') : '-'),
      total: (rows) =>
        step.total_us > 0 ? percent(total(rows, (op) => op.us) / step.total_us).replace(' %', '') : '-',
    },
    {
      key: 'cycles',
      label: 'cycles',
      width: '86px',
      num: true,
      origin: 'row',
      value: (op) => op.cycles,
      show: (op) => int(op.cycles),
      total: (rows) => int(total(rows, (op) => op.cycles)),
    },
    {
      key: 'causes',
      label: 'causes',
      width: '100px',
      value: (op) => Object.entries(op.causes).sort((a, b) => b[1] - a[1])[0]?.[0] ?? null,
      show: (op) => <CauseBar causes={op.causes} cycles={op.cycles} />,
    },
    {
      key: 'count',
      label: 'runs',
      width: '46px',
      num: true,
      value: (op) => op.count,
      show: (op) => int(op.count),
      title: 'executions',
    },
    {
      key: 'hbm',
      label: 'HBM',
      width: '76px',
      num: true,
      origin: 'counted',
      value: (op) => op.hbm_bytes,
      show: (op) => bytes(op.hbm_bytes),
      total: (rows) => bytes(total(rows, (op) => op.hbm_bytes)),
    },
    {
      key: 'flops',
      label: 'FLOP',
      width: '76px',
      num: true,
      origin: 'counted',
      value: (op) => op.flops,
      show: (op) => (op.flops === null ? '?' : si(op.flops)),
      total: (rows) => si(total(rows, (op) => op.flops)),
    },
    {key: 'bound', label: 'bound', width: '72px', origin: 'datasheet', value: (op) => op.bound},
    {
      key: 'error',
      label: '\u00b1',
      width: '38px',
      num: true,
      value: (op) => op.error,
      show: (op) => (op.error === null ? '-' : percent(op.error, 0).replace(' %', '')),
      title: 'error of its class, %: 9 of 10 measured points lay within it',
    },
    {key: 'origin', label: 'origin', width: '72px', value: (op) => op.origin},
    {key: 'flags', label: 'flags', width: '110px', value: (op) => op.flags.join(' ')},
    {key: 'memory', label: 'memory', width: '110px', value: (op) => op.memory},
    {key: 'shape', label: 'shape', width: '170px', value: (op) => op.shape},
    {key: 'source', label: 'source', width: '140px', value: (op) => op.source},
  ];
}

export function Ops({model, state}: {model: StepModel; state: State}) {
  const columns = useMemo(() => columnsOf(model), [model]);
  const chosen = useMemo(() => new Set(state.selection?.rows ?? []), [state.selection]);
  const rows = useMemo(
    () => (state.only_selected && state.selection ? model.step.ops.filter((op) => chosen.has(op.id)) : model.step.ops),
    [model, state.only_selected, chosen],
  );
  return (
    <Table
      id="ops"
      label="operations"
      columns={columns}
      rows={rows}
      sort={['us', 'down']}
      rowKey={(op) => op.id}
      empty="This step has no operations."
      text={(op) =>
        `${op.op} ${op.part ?? ''} ${op.kind} ${op.kernel ?? ''} ${op.shape ?? ''} ${op.source ?? ''} ${op.memory ?? ''} ${op.flags.join(' ')} ${op.origin} layer.${op.layer ?? ''}`
      }
      selected={(op) => chosen.has(op.id) && chosen.size < model.step.ops.length}
      onSelect={(op) => selectRow(model, op.id, {only_selected: false})}
      tools={<SelectionFilter state={state} />}
    />
  );
}
