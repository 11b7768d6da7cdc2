// The model tree at the left: role tree, one stop of the Tab key, arrow keys inside.
import {useEffect, useMemo} from 'preact/hooks';
import {selectNode, toggleOpen} from '../actions';
import {CauseBar} from '../parts/cause_bar';
import {Rows, useWindow} from '../parts/virtual';
import {percent, us} from '../format';
import type {StepModel} from '../model';
import type {State} from '../store';
import type {Node} from '../tree';

const rowHeight = 20;

/** What is in sight, top to bottom; a stack instead of recursion, since nothing bounds the depth of loops. */
function visible(root: Node, open: ReadonlySet<string>): Node[] {
  const list: Node[] = [];
  const stack = [root];
  while (stack.length) {
    const node = stack.pop()!;
    list.push(node);
    if (!node.has_children || !open.has(node.id)) continue;
    const children = node.children();
    for (let i = children.length - 1; i >= 0; --i) stack.push(children[i]!);
  }
  return list;
}

const letters: Record<Node['kind'], string> = {
  step: '',
  layer: '',
  part: '',
  op: '',
  launch: '',
  kernel: 'kernel ',
  loop: '',
  bundle: 'bundle ',
};

export function TreeView({model, state}: {model: StepModel; state: State}) {
  const nodes = useMemo(() => visible(model.tree.root, state.open), [model, state.open]);
  const chosen = state.selection?.node ?? null;
  const at = chosen === null ? -1 : nodes.findIndex((node) => node.id === chosen);
  const [ref, window, show] = useWindow(nodes.length, rowHeight);
  useEffect(() => {
    if (at >= 0) show(at);
  }, [at, chosen]);
  const marked = useMemo(
    () => new Set(state.selection && !state.selection.node ? state.selection.rows : []),
    [state.selection],
  );

  const keys = (event: KeyboardEvent) => {
    const node = nodes[at];
    const go = (index: number) => {
      const next = nodes[Math.max(0, Math.min(nodes.length - 1, index))];
      if (next) selectNode(next);
    };
    switch (event.key) {
      case 'ArrowDown':
        go(at + 1);
        break;
      case 'ArrowUp':
        go(at < 0 ? 0 : at - 1);
        break;
      case 'PageDown':
        go(at + 20);
        break;
      case 'PageUp':
        go(at - 20);
        break;
      case 'Home':
        go(0);
        break;
      case 'End':
        go(nodes.length - 1);
        break;
      case 'ArrowRight':
        if (!node) go(0);
        else if (node.has_children && !state.open.has(node.id)) toggleOpen(node, true);
        else if (node.has_children) go(at + 1);
        break;
      case 'ArrowLeft':
        if (node && node.has_children && state.open.has(node.id)) toggleOpen(node, false);
        else if (node?.parent) selectNode(node.parent);
        break;
      case 'Enter':
      case ' ':
        if (node?.has_children) toggleOpen(node);
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  const total = model.step.total_us;
  return (
    <section class="pane tree-pane" aria-label="model">
      <div class="tree-head" aria-hidden="true">
        <span>model tree</span>
        <span class="num">us</span>
        <span class="num">%</span>
        <span>causes</span>
      </div>
      <div
        class="scroll tree"
        id="tree"
        role="tree"
        aria-label="model tree"
        tabIndex={0}
        ref={ref}
        onKeyDown={keys}
        aria-activedescendant={at >= window.first && at < window.last ? `t-${at}` : undefined}
      >
        <Rows
          count={nodes.length}
          window={window}
          rowHeight={rowHeight}
          row={(index) => {
            const node = nodes[index]!;
            const expanded = state.open.has(node.id);
            const hit = node.kind === 'op' && marked.has(node.rows[0]!);
            return (
              <div
                key={node.id}
                id={`t-${index}`}
                role="treeitem"
                aria-level={node.depth + 1}
                aria-selected={index === at}
                aria-expanded={node.has_children ? expanded : undefined}
                data-id={node.id}
                class={`node ${node.kind}${index === at ? ' selected' : ''}${hit ? ' hit' : ''}`}
                onClick={() => selectNode(node)}
                onDblClick={() => node.has_children && toggleOpen(node)}
              >
                <span
                  class="name"
                  style={{paddingLeft: `${Math.min(node.depth, 12) * 11}px`}}
                  title={node.note ? `${node.label}  ${node.note}` : node.label}
                >
                  <span
                    class="twist"
                    aria-hidden="true"
                    onClick={(event) => {
                      event.stopPropagation();
                      if (node.has_children) toggleOpen(node);
                    }}
                  >
                    {node.has_children ? (expanded ? '\u25be' : '\u25b8') : ''}
                  </span>
                  {hit && (
                    <span class="hit-mark" aria-label="in the selection">
                      {'\u25cf'}
                    </span>
                  )}
                  {letters[node.kind]}
                  {node.label} {node.note && node.kind !== 'step' && <span class="dim">{node.note}</span>}
                </span>
                <span class="num">{us(node.us)}</span>
                <span class="num">{total > 0 ? percent(node.us / total).replace(' %', '') : '-'}</span>
                <CauseBar causes={node.causes} cycles={node.cycles} letters={false} />
              </div>
            );
          }}
        />
      </div>
    </section>
  );
}
