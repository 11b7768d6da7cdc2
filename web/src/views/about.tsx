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
    ['schema', `${report.schema}, sublane ${report.version}`],
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
              {report.limits.map((limit) => (
                <tr key={limit.name}>
                  <td>{limit.name}</td>
                  <td class="num" title={String(limit.value)}>
                    {si(limit.value, limit.unit)}
                  </td>
                  <td>
                    <Tag origin={limit.origin} />
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
            {report.assumptions.map((text, index) => (
              <li key={index}>{text}</li>
            ))}
          </ul>
          {!report.assumptions.length && <p class="empty">Nothing is listed.</p>}
        </section>
      </div>
    </div>
  );
}
