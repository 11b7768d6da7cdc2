// First of all: what makes the step slow, what cures it, and what that is worth. Then where its cycles go.
import {selectFinding, selectNode, selectRow, selectRows} from '../actions';
import {CauseBar, CauseList, Legend} from '../parts/cause_bar';
import {Tag} from '../parts/tag';
import {bytes, int, percent, us} from '../format';
import {update} from '../store';
import type {StepModel} from '../model';
import type {Finding} from '../schema';
import {SpeedOfLight} from './speed_of_light';

function rowsWithSource(model: StepModel, source: string): number[] {
  return model.step.ops.filter((op) => op.source === source).map((op) => op.id);
}

function Card({model, finding, number}: {model: StepModel; finding: Finding; number: number}) {
  const {step} = model;
  const names = finding.ops.slice(0, 12);
  const share = (value: number | null) =>
    value === null || step.total_us <= 0 ? '' : ` (${percent(value / step.total_us)})`;
  return (
    <article class="card" data-rule={finding.rule} aria-label={`finding ${finding.rule}`}>
      <div class="card-head">
        <span class="card-number">{number}</span>
        <h3>{finding.rule}</h3>
        <span class="card-figure">
          <span class="dim">takes</span> {us(finding.us)} us{share(finding.us)} <Tag origin={step.origin} />
        </span>
        <span class="card-figure gain">
          <span class="dim">gain</span>{' '}
          {finding.gain_us === null || finding.gain_us === undefined
            ? 'not known'
            : `${us(finding.gain_us)} us${share(finding.gain_us)}`}{' '}
          <Tag origin={finding.gain_origin} />
        </span>
        <button type="button" class="do" onClick={() => selectFinding(model, finding)}>
          select {int(finding.rows.length || finding.ops.length)} ops
        </button>
        <button type="button" onClick={() => selectFinding(model, finding, 'flame')}>
          in flame
        </button>
      </div>
      <p class="what">{finding.what}</p>
      {finding.cure && (
        <p class="cure">
          <b>Cure</b> {finding.cure}
        </p>
      )}
      {finding.evidence.length > 0 && (
        <ul class="evidence">
          {finding.evidence.map((line, index) => (
            <li key={index}>{line}</li>
          ))}
        </ul>
      )}
      <p class="links">
        {names.map((name) => {
          const rows = model.rowsOfOp.get(name) ?? [];
          return rows.length ? (
            <button
              key={name}
              type="button"
              class="link mono"
              onClick={() =>
                rows.length === 1
                  ? selectRow(model, rows[0]!, {tab: 'ops', only_selected: true})
                  : selectRows(name, rows, {tab: 'ops', only_selected: true})
              }
            >
              {name}
            </button>
          ) : (
            <code key={name}>{name}</code>
          );
        })}
        {finding.ops.length > names.length && (
          <span class="dim">and {int(finding.ops.length - names.length)} more</span>
        )}
        {finding.sources.map((source) => (
          <button
            key={source}
            type="button"
            class="link mono source"
            title="operations of this source line"
            onClick={() => selectRows(source, rowsWithSource(model, source), {tab: 'ops', only_selected: true})}
          >
            {source}
          </button>
        ))}
      </p>
    </article>
  );
}

function ByPlace({model}: {model: StepModel}) {
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

export function Findings({model}: {model: StepModel}) {
  const {step} = model;
  return (
    <div class="page-scroll">
      <section aria-label="findings">
        <h2>Findings</h2>
        {step.findings.length ? (
          step.findings.map((finding, index) => (
            <Card key={`${finding.rule}${index}`} model={model} finding={finding} number={index + 1} />
          ))
        ) : (
          <p class="empty">
            No rule found anything in this step.
            {step.rung !== 'bundles' && ` Rung ${step.rung}: the rules that need executed bundles did not run.`}
          </p>
        )}
      </section>
      <section>
        <h2>
          Where the cycles go <Tag origin={step.origin} />
        </h2>
        <Legend />
        <div class="big-bar">
          <CauseBar causes={step.causes} cycles={step.cycles} />
        </div>
        <div class="columns">
          <CauseList causes={step.causes} cycles={step.cycles} />
          <table class="plain">
            <tbody>
              <tr>
                <td>total</td>
                <td class="num">{us(step.total_us)} us</td>
                <td>
                  <Tag origin={step.origin} />
                </td>
              </tr>
              <tr>
                <td>of it launch</td>
                <td class="num">{us(step.launch_us)} us</td>
                <td>
                  <Tag origin={step.origin} />
                </td>
              </tr>
              <tr>
                <td>cycles</td>
                <td class="num" data-cycles={step.cycles}>
                  {int(step.cycles)}
                </td>
                <td>
                  <Tag origin={step.origin} />
                </td>
              </tr>
              <tr>
                <td>the compiler's estimate</td>
                <td class="num">{us(step.compiler_us?.value)} us</td>
                <td>
                  <Tag origin={step.compiler_us?.origin} />
                </td>
              </tr>
              <tr>
                <td>HBM read</td>
                <td class="num">{bytes(step.hbm_read_bytes)}</td>
                <td>
                  <Tag origin="counted" />
                </td>
              </tr>
              <tr>
                <td>HBM written</td>
                <td class="num">{bytes(step.hbm_write_bytes)}</td>
                <td>
                  <Tag origin="counted" />
                </td>
              </tr>
              <tr>
                <td>bundles executed</td>
                <td class="num">{int(step.bundles)}</td>
                <td>
                  <Tag origin={step.origin} />
                </td>
              </tr>
              <tr>
                <td>error</td>
                <td class="num">{step.error ? `\u00b1 ${percent(step.error.relative, 0)}` : 'none known'}</td>
                <td class="dim">
                  {step.error &&
                    `${step.error.class}, ${step.error.points} points, ${percent(step.error.covered_share, 0)} covered`}
                </td>
              </tr>
            </tbody>
          </table>
        </div>
      </section>
      <SpeedOfLight model={model} rows={null} />
      <ByPlace model={model} />
      <p>
        <button type="button" class="link" onClick={() => selectNode(model.tree.root)}>
          the whole step
        </button>{' '}
        <button type="button" class="link" onClick={() => update({tab: 'about'})}>
          assumptions and limits
        </button>
      </p>
    </div>
  );
}
