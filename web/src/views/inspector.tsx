// At the right: everything about what is selected, or about the step.
import type {ComponentChildren} from 'preact';
import {selectFinding, selectNode, selectRow} from '../actions';
import {CauseBar, CauseList} from '../parts/cause_bar';
import {Tag} from '../parts/tag';
import {bytes, int, percent, plural, si, us} from '../format';
import {sumOf, unitShare, usOf, type StepModel, type Sum} from '../model';
import {update, type Selection, type State} from '../store';
import type {Counts, Op} from '../schema';

const Row = ({
  name,
  origin,
  children,
  title,
}: {
  name: string;
  origin?: string | null;
  children: ComponentChildren;
  title?: string;
}) => (
  <tr title={title}>
    <th scope="row">
      {name} <Tag origin={origin} />
    </th>
    <td class="num">{children}</td>
  </tr>
);

interface Figures {
  cycles: number;
  us: number;
  causes: Counts;
  issued: Counts;
  origin: string;
}

/** Of a kernel, loop or bundle: its own figures; else those of its rows; without a selection the step's. */
function figuresOf(model: StepModel, selection: Selection | null, sum: Sum): Figures {
  const {step, report} = model;
  const node = selection?.node ? model.tree.byId(selection.node) : null;
  if (!selection || node?.kind === 'step')
    return {cycles: step.cycles, us: step.total_us, causes: step.causes, issued: sum.issued, origin: step.origin};
  if (node && (node.kind === 'kernel' || node.kind === 'loop' || node.kind === 'bundle'))
    return {
      cycles: node.cycles,
      us: usOf(report, node.cycles),
      causes: node.causes,
      issued: node.issued,
      origin: step.origin,
    };
  if (node?.kind === 'launch') return {cycles: 0, us: node.us, causes: {}, issued: {}, origin: step.origin};
  return {...sum, origin: sum.origins.size === 1 ? [...sum.origins][0]! : sum.origins.size ? 'row' : step.origin};
}

function OpFacts({op}: {op: Op}) {
  return (
    <>
      <Row name="kind">{op.kind}</Row>
      <Row name="class">{op.class ?? '-'}</Row>
      <Row name="error" title="9 of 10 measured points of the class lay within it">
        {op.error === null ? 'none known' : `\u00b1 ${percent(op.error, 0)}`}
      </Row>
      <Row name="shape" origin="compiler">
        <code class="wrap">{op.shape ?? '-'}</code>
      </Row>
      <Row name="memory" origin="compiler">
        {op.memory ?? '-'}
      </Row>
      <Row name="HBM bound" origin="datasheet">
        {us(op.hbm_us)} us
      </Row>
      <Row name="MXU bound" origin="datasheet">
        {us(op.mxu_us)} us
      </Row>
      <Row name="source">
        <code class="wrap">{op.source ?? '-'}</code>
      </Row>
      {op.flags.length > 0 && (
        <Row name="flags">
          <span class="wrap">{op.flags.join(', ')}</span>
        </Row>
      )}
    </>
  );
}

function Units({model, figures}: {model: StepModel; figures: Figures}) {
  const units = model.units.filter((unit) => model.slots.has(unit));
  if (!units.length || figures.cycles <= 0 || !Object.keys(figures.issued).length) return null;
  return (
    <>
      <h3>
        Units <Tag origin={figures.origin} />
      </h3>
      <table class="plain">
        <tbody>
          {units.map((unit) => {
            const share = unitShare(model, unit, figures.issued, figures.cycles) ?? 0;
            return (
              <tr key={unit}>
                <td>{unit}</td>
                <td class="meter-cell">
                  <span class="meter">
                    <span style={{width: `${Math.min(1, share) * 100}%`}} />
                  </span>
                </td>
                <td class="num">{int(figures.issued[unit] ?? 0)}</td>
                <td class="num">{percent(share)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

export function Inspector({model, state}: {model: StepModel; state: State}) {
  const {selection} = state;
  const {step} = model;
  const rows = selection ? selection.rows : step.ops.map((op) => op.id);
  const sum = sumOf(model, rows);
  const figures = figuresOf(model, selection, sum);
  const op = selection?.node && rows.length === 1 ? model.ops.get(rows[0]!) : undefined;
  const findings = step.findings.filter((finding) => finding.rows.some((row) => rows.includes(row)));
  const transfers = rows.flatMap((row) => model.transfersOf.get(row) ?? []);
  const node = selection?.node ? model.tree.byId(selection.node) : null;
  const whole = !node || ['step', 'layer', 'part', 'op'].includes(node.kind);
  return (
    <section class="pane inspector" aria-label="selection" id="inspector">
      <h2>
        <span class="wrap">{selection?.title ?? `step ${step.name}`}</span>
        {selection && (
          <button
            type="button"
            class="link clear"
            title="Escape"
            onClick={() => update({selection: null, only_selected: false})}
          >
            clear
          </button>
        )}
      </h2>
      {node?.parent && (
        <p class="up">
          in{' '}
          <button type="button" class="link" onClick={() => selectNode(node.parent!)}>
            {node.parent.label}
          </button>
        </p>
      )}
      <table class="plain facts">
        <tbody>
          <Row name="time" origin={figures.origin}>
            <b data-value={figures.us}>{us(figures.us)} us</b>
          </Row>
          <Row name="share of step" origin={figures.origin}>
            {percent(step.total_us > 0 ? figures.us / step.total_us : null)}
          </Row>
          <Row name="cycles" origin={figures.origin}>
            {int(figures.cycles)}
          </Row>
          {whole && (
            <Row name="operations">
              {int(rows.length)}
              {sum.count !== rows.length ? `, ${int(sum.count)} runs` : ''}
            </Row>
          )}
          {whole && (
            <Row name="HBM bytes" origin="counted" title={`${int(sum.hbm_bytes)} B`}>
              {bytes(sum.hbm_bytes)}
            </Row>
          )}
          {whole && (
            <Row name="read / written" origin="counted">
              {bytes(sum.hbm_read_bytes)} / {bytes(sum.hbm_write_bytes)}
            </Row>
          )}
          {whole && (
            <Row name="FLOP" origin="counted">
              {si(sum.flops)}
              {sum.flops_unknown ? ` + ${plural(sum.flops_unknown, 'unknown op')}` : ''}
            </Row>
          )}
          {whole && sum.us > 0 && (
            <Row name="HBM rate" origin={figures.origin}>
              {si((sum.hbm_bytes / sum.us) * 1e6, 'B/s')}
            </Row>
          )}
          {whole && sum.us > 0 && (
            <Row name="FLOP rate" origin={figures.origin}>
              {si((sum.flops / sum.us) * 1e6, 'FLOP/s')}
            </Row>
          )}
          {op && <OpFacts op={op} />}
        </tbody>
      </table>
      {node?.kind === 'bundle' && <pre class="bundle-text wrap">{node.note.split(/\s*;;?\s*/).join('\n')}</pre>}
      <h3>
        Causes, cycles <Tag origin={figures.origin} />
      </h3>
      <CauseBar causes={figures.causes} cycles={figures.cycles} />
      <CauseList causes={figures.causes} cycles={figures.cycles} />
      <Units model={model} figures={figures} />
      {findings.length > 0 && (
        <>
          <h3>Findings here</h3>
          <ul class="lines">
            {findings.map((finding) => (
              <li key={finding.rule}>
                <button type="button" class="link" onClick={() => selectFinding(model, finding)}>
                  {finding.rule}
                </button>{' '}
                {finding.what}
              </li>
            ))}
          </ul>
        </>
      )}
      {selection && transfers.length > 0 && (
        <>
          <h3>
            Transfers <Tag origin="simulated" />
          </h3>
          <ul class="lines mono">
            {transfers.slice(0, 12).map((transfer, index) => (
              <li key={index}>
                {transfer.from} {'\u2192'} {transfer.to} {bytes(transfer.bytes)}, waited {int(transfer.waited_cycles)}{' '}
                of {int(transfer.flight_cycles)}
              </li>
            ))}
            {transfers.length > 12 && (
              <li>
                <button type="button" class="link" onClick={() => update({tab: 'transfers', only_selected: true})}>
                  {int(transfers.length - 12)} more
                </button>
              </li>
            )}
          </ul>
        </>
      )}
      {selection && !selection.node && (
        <>
          <h3>Operations</h3>
          <ul class="lines mono">
            {rows.slice(0, 40).map((row) => {
              const entry = model.ops.get(row);
              return (
                entry && (
                  <li key={row}>
                    <button type="button" class="link" onClick={() => selectRow(model, row)}>
                      {entry.op}
                    </button>{' '}
                    {us(entry.us)} us
                  </li>
                )
              );
            })}
            {rows.length > 40 && <li>{int(rows.length - 40)} more</li>}
          </ul>
        </>
      )}
    </section>
  );
}
