// From the total before to the total after, the largest changes one by one.
import {scaleLinear} from 'd3-scale';
import {signed, us} from '../format';
import type {DiffLine, DiffStep} from '../schema';

const bars = 12;

export const delta = (value: number) => signed(us(value), value);
export const named = (line: DiffLine) => `${line.place || 'not placed'} ${line.kind}`;

interface Stair {
  label: string;
  from: number;
  to: number;
  kind: 'total' | 'gain' | 'loss';
  line: DiffLine | null;
}

/** The smaller changes are one stair, so that the last one ends at the total. */
function stairsOf(step: DiffStep): Stair[] {
  const lines = [...step.lines].sort((a, b) => Math.abs(b.change_us) - Math.abs(a.change_us));
  const total = (label: string, to: number): Stair => ({label, from: 0, to, kind: 'total', line: null});
  const stairs = [total('before', step.before.us)];
  let at = step.before.us;
  const add = (label: string, to: number, line: DiffLine | null) => {
    stairs.push({label, from: at, to, kind: to < at ? 'gain' : 'loss', line});
    at = to;
  };
  for (const line of lines.slice(0, bars)) if (line.change_us !== 0) add(named(line), at + line.change_us, line);
  if (Math.abs(step.after.us - at) > 1e-6 * Math.max(1, step.after.us)) add('all other changes', step.after.us, null);
  return [...stairs, total('after', step.after.us)];
}

/** Where the axis begins: small changes of a large total would not be seen otherwise; it is said beside the bars. */
function axisStart(step: DiffStep, values: number[], high: number): number {
  const lowest = Math.min(step.before.us, step.after.us, ...values);
  return (high - lowest) * 6 < high ? Math.max(0, lowest - (high - lowest)) : 0;
}

export function Waterfall({step, choose}: {step: DiffStep; choose: (line: DiffLine) => void}) {
  const stairs = stairsOf(step);
  const values = stairs.filter((stair) => stair.kind !== 'total').flatMap((stair) => [stair.from, stair.to]);
  const high = Math.max(step.before.us, step.after.us, ...values);
  const start = axisStart(step, values, high);
  const scale = scaleLinear()
    .domain([start, high || 1])
    .range([0, 100]);
  const label = `from ${us(step.before.us)} us to ${us(step.after.us)} us; the table below holds every line`;
  return (
    <div class="waterfall" id="waterfall" role="img" aria-label={label}>
      {stairs.map((stair, index) => {
        const low = stair.kind === 'total' ? start : Math.min(stair.from, stair.to);
        const top = stair.kind === 'total' ? stair.to : Math.max(stair.from, stair.to);
        const width = Math.max(0.25, scale(top) - scale(low));
        return (
          <div key={index} class={`stair ${stair.kind}`} onClick={() => stair.line && choose(stair.line)}>
            <span class="clip" title={stair.label}>
              {stair.label}
            </span>
            <span class="track">
              <span style={{left: `${scale(low)}%`, width: `${width}%`}} />
            </span>
            <span class="num">{stair.kind === 'total' ? us(stair.to) : delta(stair.to - stair.from)}</span>
          </div>
        );
      })}
      {start > 0 && <p class="dim">The axis begins at {us(start)} us.</p>}
    </div>
  );
}
