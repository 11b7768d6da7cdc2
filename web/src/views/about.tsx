// What the report stands on: versions, flags, assumptions, limits, and the compiler's memory figures.
import {Tag} from '../parts/tag';
import {bytes, int, si} from '../format';
import type {StepModel} from '../model';

const memoryRows: [string, string][] = [
  ['used_bytes', 'used'],
  ['usable_bytes', 'usable by a program'],
  ['hbm_bytes', 'HBM of the device'],
  ['arguments', 'arguments'],
  ['argument_data', 'of them data, without padding'],
  ['outputs', 'outputs'],
  ['aliased', 'outputs in the place of arguments'],
  ['temporaries', 'temporaries'],
  ['code', 'code'],
  ['donated_state', 'donated arguments (state)'],
];

function limitsOf({report, step}: StepModel): [string, number, string, string][] {
  const rates: [string, number, string, string][] = step.limits.map((limit) => [
    limit.limit,
    limit.per_second,
    `${limit.unit}/s`,
    limit.limit_origin,
  ]);
  const {hbm_bytes_per_second: hbm, bf16_flops_per_second: peak, vmem_bytes: vmem} = report;
  if (!step.limits.length && hbm) rates.push(['hbm', hbm.value, 'B/s', hbm.origin]);
  if (peak) rates.push(['mxu, bf16', peak.value, 'FLOP/s', peak.origin]);
  if (vmem) rates.push(['vmem capacity', vmem.value, 'B', vmem.origin]);
  return rates;
}

export function About({model}: {model: StepModel}) {
  const {report, step} = model;
  const facts: [string, string | null | undefined][] = [
    ['subject', report.subject],
    ['detail', report.detail],
    ['step', step.name],
    ['bucket', step.bucket],
    ['chip', report.chip],
    ['devices', int(report.devices)],
    ['clock', si(report.clock_hz, 'Hz')],
    ['compiler', report.compiler],
    ['simulator', report.simulator],
    ['model hash', report.model_hash],
    ['program', step.fingerprint],
    ['rung', `${step.rung}${step.reason ? `: ${step.reason}` : ''}`],
    ['hint', step.hint],
    ['flags', report.flags.join('  ') || 'none'],
    ['focus', report.focus],
    ['schema', report.schema],
  ];
  const {memory} = step;
  return (
    <div class="page-scroll">
      <div class="columns">
        <section>
          <h2>This run</h2>
          <table class="plain">
            <tbody>
              {facts
                .filter(([, value]) => value)
                .map(([name, value]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td class="wrap mono">{value}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
        <section>
          <h2>Limits</h2>
          <table class="plain">
            <thead>
              <tr>
                <th>limit</th>
                <th class="num">value</th>
                <th>origin</th>
              </tr>
            </thead>
            <tbody>
              {limitsOf(model).map(([name, value, unit, origin]) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td class="num" title={String(value)}>
                    {si(value, unit)}
                  </td>
                  <td>
                    <Tag origin={origin} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {memory && (
            <>
              <h2>
                Memory of the program <Tag origin={memory.origin} />
              </h2>
              <table class="plain">
                <tbody>
                  {memoryRows.map(([key, text]) => {
                    const value = (memory as unknown as Record<string, number | null | undefined>)[key];
                    return value === null || value === undefined ? null : (
                      <tr key={key}>
                        <td>{text}</td>
                        <td class="num" title={`${int(value)} B`}>
                          {bytes(value)}
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </>
          )}
        </section>
        <section>
          <h2>Assumed or not modelled</h2>
          <ul class="lines">
            {[...report.assumptions, ...step.notes].map((text, index) => (
              <li key={index}>{text}</li>
            ))}
          </ul>
          {!report.assumptions.length && !step.notes.length && <p class="empty">Nothing is listed.</p>}
        </section>
      </div>
    </div>
  );
}
