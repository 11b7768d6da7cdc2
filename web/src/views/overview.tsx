// Where the cycles of a step go, in one look: by group of causes, by part, and its figures.
import {selectRows} from '../actions';
import {groupCycles, groupText} from '../causes';
import {CauseBar, Swatch} from '../parts/cause_bar';
import {Tag} from '../parts/tag';
import {bytes, int, percent, us} from '../format';
import type {ComponentChildren} from 'preact';
import type {StepModel} from '../model';
import type {Step} from '../schema';

function Fact({name, origin, children}: {name: string; origin?: string | null; children: ComponentChildren}) {
  return (
    <tr>
      <td>{name}</td>
      <td class="num">{children}</td>
      <td>
        <Tag origin={origin} />
      </td>
    </tr>
  );
}

function Facts({step}: {step: Step}) {
  const {error} = step;
  return (
    <table class="plain">
      <tbody>
        <Fact name="total" origin={step.origin}>
          {us(step.total_us)} us
        </Fact>
        <Fact name="of it launch" origin={step.origin}>
          {us(step.launch_us)} us
        </Fact>
        <Fact name="cycles" origin={step.origin}>
          <span data-cycles={step.cycles}>{int(step.cycles)}</span>
        </Fact>
        <Fact name="the compiler's estimate" origin={step.compiler_us?.origin}>
          {us(step.compiler_us?.value)} us
        </Fact>
        <Fact name="HBM read" origin="counted">
          {bytes(step.hbm_read_bytes)}
        </Fact>
        <Fact name="HBM written" origin="counted">
          {bytes(step.hbm_write_bytes)}
        </Fact>
        <Fact name="bundles executed" origin={step.origin}>
          {int(step.bundles)}
        </Fact>
        <Fact name="error of the total">{error ? `\u00b1 ${percent(error.relative, 0)}` : 'none known'}</Fact>
        {error && (
          <tr>
            <td class="dim" colSpan={3}>
              {error.class}: {int(error.points)} measured points, {percent(error.covered_share, 0)} of the time covered
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Groups({step}: {step: Step}) {
  const parts = groupCycles(step.causes, step.cycles);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <table class="plain" id="groups">
      <tbody>
        {parts.map(([group, count]) => (
          <tr key={group}>
            <td>
              <Swatch group={group} /> {groupText[group].name}
            </td>
            <td class="num">{int(count)}</td>
            <td class="num">{percent(total ? count / total : 0)}</td>
            <td class="dim">{groupText[group].long}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function WhereCyclesGo({model}: {model: StepModel}) {
  const {step} = model;
  return (
    <section>
      <h2>
        Where the cycles go <Tag origin={step.origin} /> <span class="dim">every cause by itself: at the right</span>
      </h2>
      <div class="big-bar">
        <CauseBar causes={step.causes} cycles={step.cycles} />
      </div>
      <div class="columns">
        <Groups step={step} />
        <Facts step={step} />
      </div>
    </section>
  );
}

export function ByPart({model}: {model: StepModel}) {
  const {step} = model;
  const parts = new Map<
    string,
    {us: number; cycles: number; rows: number[]; causes: Record<string, number>; kinds: Set<string>}
  >();
  for (const op of step.ops) {
    const key = op.part ?? 'not placed';
    const entry = parts.get(key) ?? {us: 0, cycles: 0, rows: [], causes: {}, kinds: new Set<string>()};
    entry.us += op.us;
    entry.cycles += op.cycles;
    entry.rows.push(op.id);
    for (const [cause, count] of Object.entries(op.causes)) entry.causes[cause] = (entry.causes[cause] ?? 0) + count;
    parts.set(key, entry);
  }
  const rows = [...parts].sort((a, b) => b[1].us - a[1].us).slice(0, 14);
  const most = rows[0]?.[1].us ?? 0;
  return (
    <section>
      <h2>
        Parts, over all layers <Tag origin={step.origin} />
      </h2>
      <table class="plain wide">
        <thead>
          <tr>
            <th>part</th>
            <th class="num">us</th>
            <th class="num">share</th>
            <th class="num">ops</th>
            <th>causes</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, entry]) => (
            <tr key={name} class="click" onClick={() => selectRows(`part ${name}`, entry.rows)}>
              <td>
                <button type="button" class="link" onClick={() => selectRows(`part ${name}`, entry.rows)}>
                  {name}
                </button>
              </td>
              <td class="num">{us(entry.us)}</td>
              <td class="num">{percent(step.total_us > 0 ? entry.us / step.total_us : null)}</td>
              <td class="num">{int(entry.rows.length)}</td>
              <td class="bar-cell">
                <CauseBar causes={entry.causes} cycles={entry.cycles} scale={most > 0 ? entry.us / most : 1} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {parts.size > rows.length && (
        <p class="dim">{parts.size - rows.length} smaller parts: in the tree and in operations.</p>
      )}
    </section>
  );
}
