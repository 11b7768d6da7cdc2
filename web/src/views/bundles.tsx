// A kernel's bundles in program order or by cost, with loops at the left and the kernel's own source beside them.
import {useMemo} from 'preact/hooks';
import {groupOf} from '../causes';
import {Swatch} from '../parts/cause_bar';
import {Table, type Column} from '../parts/table';
import {Tag} from '../parts/tag';
import {int, percent} from '../format';
import {selectNode} from '../actions';
import {type StepModel} from '../model';
import {update, type State} from '../store';
import {bundleCycles} from '../tree';
import type {Bundle, Kernel} from '../schema';
import {chooseKernel, Kernels} from './kernels';

interface Line {
  index: number;
  bundle: Bundle;
  cycles: number;
  depth: number;
  opens: number | null;
}

function linesOf(kernel: Kernel): Line[] {
  const depths = kernel.loops.map((loop) => {
    let depth = 1;
    for (
      let at = loop.parent, left = kernel.loops.length;
      at !== null && at !== undefined && at >= 0 && left-- > 0;
      at = kernel.loops[at]?.parent ?? null
    )
      depth += 1;
    return depth;
  });
  const heads = new Map(kernel.loops.map((loop, index) => [loop.first, index]));
  return (kernel.bundles ?? []).map((bundle, index) => ({
    index,
    bundle,
    cycles: bundleCycles(bundle),
    depth: bundle[3] >= 0 ? (depths[bundle[3]] ?? 0) : 0,
    opens: heads.get(index) ?? null,
  }));
}

/** What most of its cycles went to: its own work or stall, or a wait. */
const mainCause = ([runs, waited, cause]: Bundle) => (waited > runs ? 'waited' : cause);

function columnsOf(kernel: Kernel, has_lines: boolean): Column<Line>[] {
  const total = (rows: Line[], value: (line: Line) => number) => int(rows.reduce((sum, line) => sum + value(line), 0));
  return [
    {
      key: 'bundle',
      label: 'bundle',
      width: '46px',
      num: true,
      value: (line) => line.index,
      total: (rows) => int(rows.length),
    },
    {
      key: 'loop',
      label: 'loop',
      width: '96px',
      value: (line) => line.bundle[3],
      show: (line) => (
        <span class="gutter">
          <span class="depth" aria-hidden="true">
            {'\u2502'.repeat(Math.min(8, line.depth))}
          </span>
          {line.opens !== null ? (
            `\u250c loop ${line.opens} \u00d7${int(kernel.loops[line.opens]!.iterations)}`
          ) : line.bundle[3] >= 0 ? (
            <span class="dim">{line.bundle[3]}</span>
          ) : (
            ''
          )}
        </span>
      ),
    },
    {
      key: 'runs',
      label: 'runs',
      width: '72px',
      num: true,
      value: (line) => line.bundle[0],
      show: (line) => int(line.bundle[0]),
      total: (rows) => total(rows, (line) => line.bundle[0]),
    },
    {
      key: 'waited',
      label: 'waited',
      width: '64px',
      num: true,
      value: (line) => line.bundle[1],
      show: (line) => int(line.bundle[1]),
      title: 'cycles beyond its own, for transfers and flags',
      total: (rows) => total(rows, (line) => line.bundle[1]),
    },
    {
      key: 'cycles',
      label: 'cycles',
      width: '64px',
      num: true,
      value: (line) => line.cycles,
      show: (line) => int(line.cycles),
      total: (rows) => total(rows, (line) => line.cycles),
    },
    {
      key: 'share',
      label: '%',
      width: '52px',
      num: true,
      value: (line) => line.cycles,
      show: (line) => (kernel.cycles ? percent(line.cycles / kernel.cycles).replace(' %', '') : '-'),
    },
    {
      key: 'cause',
      label: 'cause',
      width: '118px',
      value: (line) => mainCause(line.bundle),
      show: (line) => (
        <>
          <Swatch group={groupOf(mainCause(line.bundle))} /> {mainCause(line.bundle)}
        </>
      ),
    },
    ...(has_lines
      ? [{key: 'line', label: 'line', width: '50px', num: true, value: (line: Line) => line.bundle[5] ?? null}]
      : []),
    {
      key: 'text',
      label: 'instructions',
      width: 'minmax(320px,1fr)',
      value: (line) => line.bundle[4],
      show: (line) => (
        <code class={line.bundle[4] ? '' : 'dim'} title={line.bundle[4]}>
          {line.bundle[4] || '(empty)'}
        </code>
      ),
    },
  ];
}

/** Around the kernel's own line, if the report carries the text of its file. */
function Source({model, kernel, line}: {model: StepModel; kernel: Kernel; line: number | undefined}) {
  const parts = /^(.*):(\d+)$/.exec(kernel.source ?? '');
  const text = parts && model.report.source_text?.[parts[1]!];
  if (!parts || !text) return null;
  const own = Number(parts[2]);
  return (
    <aside class="source-pane" id="source">
      <h3>Source</h3>
      <p class="mono wrap">{kernel.source}</p>
      <ol start={text[0]}>
        {text[1].map((content, index) => {
          const number = text[0] + index;
          return (
            <li key={number} value={number} class={number === (line ?? own) ? 'own' : ''}>
              <code>{content || ' '}</code>
            </li>
          );
        })}
      </ol>
    </aside>
  );
}

function chooseBundle(model: StepModel, kernel: Kernel, index: number, state: State): void {
  const row = state.selection?.rows.find((id) => kernel.rows.includes(id)) ?? kernel.rows[0];
  const node = row === undefined ? null : model.tree.byId(`op:${row}/b${index}`);
  if (node) selectNode(node);
  else
    update({
      selection: {
        title: `${kernel.name} bundle ${index}`,
        rows: [],
        node: null,
        kernel: kernel.id,
        loop: null,
        bundle: index,
      },
    });
}

function kernelOf(model: StepModel, state: State): Kernel | null {
  const direct = state.selection?.kernel;
  if (direct !== null && direct !== undefined) return model.kernels.get(direct) ?? null;
  const row = state.selection?.rows.find((id) => model.ops.get(id)?.kernel_id != null);
  const kernel = row === undefined ? undefined : model.kernels.get(model.ops.get(row)!.kernel_id!);
  return kernel ?? model.step.kernels[0] ?? null;
}

export function Bundles({model, state}: {model: StepModel; state: State}) {
  const {step} = model;
  const kernel = kernelOf(model, state);
  const loop =
    kernel && state.selection?.kernel === kernel.id && state.selection.loop !== null ? state.selection.loop : null;
  const all = useMemo(() => (kernel ? linesOf(kernel) : []), [kernel]);
  const lines = useMemo(() => {
    const range = loop === null ? null : kernel!.loops[loop];
    return range ? all.slice(range.first, range.last + 1) : all;
  }, [all, loop]);
  const has_lines = useMemo(() => all.some((line) => line.bundle[5] !== undefined), [all]);
  const columns = useMemo(() => (kernel ? columnsOf(kernel, has_lines) : []), [kernel, has_lines]);
  if (!kernel)
    return (
      <p class="empty">
        {step.rung === 'bundles'
          ? 'This step has no kernels.'
          : `No bundles: rung ${step.rung}, nothing was executed. ${step.reason ?? ''}`}
      </p>
    );
  const bundle = state.selection?.bundle ?? null;
  return (
    <div class="stack bundle-view">
      <Kernels model={model} state={state} chosen={kernel} />
      <h2>
        {kernel.name || 'kernel'} <Tag origin={step.origin} />{' '}
        <span class="dim">
          {int(kernel.cycles)} cycles{kernel.rows.length > 1 ? `, ${int(kernel.rows.length)} operations together` : ''}
          {loop !== null ? `, loop ${loop} only` : ''}
        </span>
        {loop !== null && (
          <button type="button" class="link" onClick={() => chooseKernel(model, kernel, state)}>
            whole kernel
          </button>
        )}
        <span class="count" id="kernel-source" title="line of the user's source">
          {kernel.source ?? (model.report.redacted ? 'source stripped' : 'source not known')}
        </span>
      </h2>
      <div class="beside">
        <Table
          key={`${kernel.id}`}
          id="bundles"
          label={`bundles of ${kernel.name}`}
          columns={columns}
          rows={lines}
          sort={null}
          rowKey={(line) => line.index}
          text={(line) => `${line.bundle[4]} ${line.bundle[2]}`}
          empty="The bundles of this kernel are not in the report."
          selected={(line) => line.index === bundle}
          onSelect={(line) => chooseBundle(model, kernel, line.index, state)}
        />
        <Source model={model} kernel={kernel} line={bundle === null ? undefined : kernel.bundles?.[bundle]?.[5]} />
      </div>
    </div>
  );
}
