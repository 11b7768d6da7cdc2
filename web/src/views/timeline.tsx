// What ran when: layers, parts, operations, causes, units and HBM over the step's cycles. Zoomed by wheel, keys or
// buttons; the strip at the top is the whole step.
import {useMemo} from 'preact/hooks';
import {selectRow} from '../actions';
import {groupText, mainGroup} from '../causes';
import {Canvas} from '../parts/canvas';
import {Tag} from '../parts/tag';
import {hideTip, showTip} from '../parts/tooltip';
import {int, percent, si, us} from '../format';
import {lanesOf, segmentAt} from '../lanes';
import {hbmPerCycle, usOf, type StepModel} from '../model';
import {update, type State} from '../store';
import {layerName} from '../tree';
import {drawAll, gutter, toCycle, unitHeight, unitsTop, type View} from './timeline_draw';

function tipAt(view: View, cycle: number, hbmFull: number): string[] {
  const segment = segmentAt(view.lanes, cycle);
  if (segment < 0) return [];
  const op = view.model.ops.get(view.lanes.row[segment]!);
  const begin = view.lanes.begin[segment]!;
  const end = view.lanes.end[segment]!;
  const lines = [`${us(usOf(view.model.report, cycle))} us, cycle ${int(cycle)}`];
  if (!op) return [...lines, cycle < end ? 'outside of operations' : 'nothing'];
  lines.push(
    `${op.op}, ${op.kind}`,
    `${layerName(op.layer)} / ${op.part ?? 'not placed'}`,
    `here ${int(end - begin)} cycles, in all ${int(op.cycles)}`,
  );
  const group = mainGroup(op.causes, op.cycles);
  lines.push(`most: ${group} ${groupText[group].long}`);
  const shares = [...view.lanes.units.keys()]
    .map(
      (unit) => [unit, (op.issued[unit] ?? 0) / ((view.model.slots.get(unit) || 1) * Math.max(1, op.cycles))] as const,
    )
    .filter(([, share]) => share > 0.005);
  if (hbmFull > 0 && op.cycles > 0)
    lines.push(
      `HBM ${si((op.hbm_bytes / op.cycles) * view.model.report.clock_hz, 'B/s')}, ${percent(op.hbm_bytes / op.cycles / hbmFull, 0)} of peak`,
    );
  if (shares.length) lines.push(shares.map(([unit, share]) => `${unit} ${percent(share, 0)}`).join('  '));
  return lines;
}

/** A window inside the step, not narrower than a few cycles. */
function clampZoom(from: number, to: number, length: number): [number, number] | null {
  const width = Math.max(8, to - from);
  if (width >= length) return null;
  const start = Math.max(0, Math.min(from, length - width));
  return [start, start + width];
}

export function Timeline({model, state}: {model: StepModel; state: State}) {
  const lanes = useMemo(() => lanesOf(model), [model]);
  const chosen = useMemo(
    () => new Set(state.selection && state.selection.rows.length < model.step.ops.length ? state.selection.rows : []),
    [state.selection, model],
  );
  if (!lanes.begin.length)
    return (
      <section>
        <h2>Time line</h2>
        <p class="empty">This step has no time line: no operation takes time.</p>
      </section>
    );
  const [from, to] = state.zoom ?? [0, lanes.length];
  const view: View = {lanes, from, to, model};
  const hbmFull = hbmPerCycle(model.report);
  const zoomBy = (factor: number, center = (from + to) / 2) =>
    update({zoom: clampZoom(center - (center - from) * factor, center + (to - center) * factor, lanes.length)});
  const pan = (part: number) =>
    update({zoom: clampZoom(from + (to - from) * part, to + (to - from) * part, lanes.length)});
  const zoomToSelection = () => {
    let first = Infinity;
    let last = -Infinity;
    for (let i = 0; i < lanes.row.length; ++i) {
      if (!chosen.has(lanes.row[i]!)) continue;
      first = Math.min(first, lanes.begin[i]!);
      last = Math.max(last, lanes.end[i]!);
    }
    if (last > first)
      update({zoom: clampZoom(first - (last - first) * 0.1, last + (last - first) * 0.1, lanes.length)});
  };
  const keys = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = {
      '+': () => zoomBy(0.6),
      '=': () => zoomBy(0.6),
      '-': () => zoomBy(1 / 0.6),
      ArrowLeft: () => pan(-0.2),
      ArrowRight: () => pan(0.2),
      '0': () => update({zoom: null}),
      f: zoomToSelection,
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const count = lanes.units.size + (hbmFull > 0 ? 1 : 0);
  let widthNow = 800;
  return (
    <section class="timeline-box">
      <h2>
        Time line <Tag origin={model.step.origin} />
        <span class="dim">
          {lanes.measured
            ? 'units and causes: means of each operation'
            : 'not a run: operations one after another, in the order of the schedule'}
        </span>
        <span class="buttons">
          <button type="button" id="zoom-in" onClick={() => zoomBy(0.5)} aria-label="zoom in">
            +
          </button>
          <button type="button" id="zoom-out" onClick={() => zoomBy(2)} aria-label="zoom out">
            {'\u2212'}
          </button>
          <button type="button" id="zoom-all" onClick={() => update({zoom: null})}>
            all
          </button>
          <button type="button" id="zoom-selection" disabled={!chosen.size} onClick={zoomToSelection}>
            selection
          </button>
        </span>
        <span class="count" id="zoom-span" data-from={from} data-to={to}>
          {us(usOf(model.report, from))} to {us(usOf(model.report, to))} us, {int(to - from)} cycles
        </span>
      </h2>
      <div class="canvas-box">
        <Canvas
          id="timeline"
          height={unitsTop + count * unitHeight + 2}
          label={`time line, ${us(usOf(model.report, from))} to ${us(usOf(model.report, to))} us; plus and minus zoom, arrow keys move, f fits the selection`}
          draw={(painter) => {
            widthNow = painter.width;
            drawAll(painter, view, chosen, hbmFull);
          }}
          deps={[lanes, from, to, chosen]}
          onSize={(width) => {
            widthNow = width;
          }}
          onPoint={(x, y, event) => {
            const lines =
              x > gutter
                ? tipAt(
                    view,
                    y < 20
                      ? ((x - gutter) / ((event.currentTarget as HTMLElement).clientWidth - gutter)) * lanes.length
                      : toCycle(view, (event.currentTarget as HTMLElement).clientWidth, x),
                    hbmFull,
                  )
                : [];
            if (lines.length) showTip(event.clientX, event.clientY, lines);
            else hideTip();
          }}
          onLeave={hideTip}
          onClick={(x, y, event) => {
            const width = (event.currentTarget as HTMLElement).clientWidth;
            if (x < gutter) return;
            if (y < 20) {
              const center = ((x - gutter) / (width - gutter)) * lanes.length;
              update({zoom: clampZoom(center - (to - from) / 2, center + (to - from) / 2, lanes.length)});
              return;
            }
            const segment = segmentAt(lanes, toCycle(view, width, x));
            if (segment >= 0 && model.ops.has(lanes.row[segment]!)) selectRow(model, lanes.row[segment]!);
          }}
          onWheel={(x, event) => {
            if (
              !event.ctrlKey &&
              !event.shiftKey &&
              Math.abs(event.deltaY) >= Math.abs(event.deltaX) &&
              !event.altKey &&
              document.activeElement?.id !== 'timeline'
            )
              return;
            event.preventDefault();
            const width = (event.currentTarget as HTMLElement).clientWidth;
            if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
              pan((event.deltaX || event.deltaY) / width);
            else zoomBy(Math.exp(event.deltaY / 300), toCycle(view, width, Math.max(gutter, x)));
          }}
          onDrag={(dx) => pan(-dx / Math.max(1, widthNow - gutter))}
          onKey={keys}
        />
      </div>
    </section>
  );
}
