// The kernels of a step: one row for each compiled function.
import {useMemo} from 'preact/hooks';
import {selectNode} from '../actions';
import {CauseBar} from '../parts/cause_bar';
import {Table, type Column} from '../parts/table';
import {bytes, int, us} from '../format';
import {usOf, type StepModel} from '../model';
import {update, type State} from '../store';
import type {Kernel} from '../schema';

export function Kernels({model, state, chosen}: {model: StepModel; state: State; chosen: Kernel | null}) {
  const {report, step} = model;
  const columns = useMemo(
    (): Column<Kernel>[] => [
      {
        key: 'name',
        label: 'kernel',
        width: 'minmax(130px,1.2fr)',
        value: (kernel) => kernel.name,
        total: () => 'total of these rows',
      },
      {key: 'rows', label: 'ops', width: '48px', num: true, value: (kernel) => kernel.rows.length},
      {
        key: 'us',
        label: 'us',
        width: '76px',
        num: true,
        origin: step.origin,
        value: (kernel) => usOf(report, kernel.cycles),
        show: (kernel) => us(usOf(report, kernel.cycles)),
        total: (rows) =>
          us(
            usOf(
              report,
              rows.reduce((sum, kernel) => sum + kernel.cycles, 0),
            ),
          ),
      },
      {
        key: 'cycles',
        label: 'cycles',
        width: '92px',
        num: true,
        origin: step.origin,
        value: (kernel) => kernel.cycles,
        show: (kernel) => int(kernel.cycles),
        total: (rows) => int(rows.reduce((sum, kernel) => sum + kernel.cycles, 0)),
      },
      {
        key: 'causes',
        label: 'causes',
        width: '120px',
        value: (kernel) => Object.entries(kernel.causes).sort((a, b) => b[1] - a[1])[0]?.[0] ?? null,
        show: (kernel) => <CauseBar causes={kernel.causes} cycles={kernel.cycles} />,
      },
      {key: 'loops', label: 'loops', width: '48px', num: true, value: (kernel) => kernel.loops.length},
      {
        key: 'bundles',
        label: 'bundles',
        width: '64px',
        num: true,
        value: (kernel) => kernel.bundles?.length ?? 0,
        show: (kernel) => int(kernel.bundles?.length ?? 0),
      },
      {
        key: 'vmem',
        label: 'VMEM',
        width: '80px',
        num: true,
        origin: 'compiler',
        value: (kernel) => kernel.vmem_bytes,
        show: (kernel) => bytes(kernel.vmem_bytes),
      },
      {
        key: 'spill',
        label: 'spills',
        width: '76px',
        num: true,
        origin: 'compiler',
        value: (kernel) => kernel.spill_bytes,
        show: (kernel) => bytes(kernel.spill_bytes),
      },
      {key: 'source', label: 'source', width: 'minmax(110px,1fr)', value: (kernel) => kernel.source},
    ],
    [model],
  );
  return (
    <div class="kernels">
      <Table
        id="kernels"
        label="kernels"
        columns={columns}
        rows={step.kernels}
        sort={['cycles', 'down']}
        rowKey={(kernel) => kernel.id}
        text={(kernel) => `${kernel.name} ${kernel.source ?? ''}`}
        empty="No kernels."
        selected={(kernel) => kernel === chosen}
        onSelect={(kernel) => chooseKernel(model, kernel, state)}
      />
    </div>
  );
}

export function chooseKernel(model: StepModel, kernel: Kernel, state: State): void {
  const rows =
    state.selection?.rows.length === 1 && kernel.rows.includes(state.selection.rows[0]!)
      ? state.selection.rows
      : kernel.rows;
  const node = rows.length ? model.tree.byId(`op:${rows[0]}/k`) : null;
  if (node) selectNode(node);
  else update({selection: {title: kernel.name, rows: [], node: null, kernel: kernel.id, loop: null, bundle: null}});
}
