// Cycles by cause as a bar of patterns with letters, and as lines with every cause's own number.
import {groupCycles, groupOf, groupText, groups, sortedCauses, type Group} from '../causes';
import {int, percent} from '../format';
import type {Counts} from '../schema';

export const Swatch = ({group}: {group: Group}) => (
  <span class={`swatch g g-${group}`} aria-hidden="true">
    {group}
  </span>
);

export function CauseBar({
  causes,
  cycles,
  scale = 1,
  letters = true,
}: {
  causes: Counts;
  cycles: number;
  scale?: number;
  letters?: boolean;
}) {
  const parts = groupCycles(causes, cycles);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  if (total <= 0) return <span class="bar" />;
  const label = parts.map(([group, count]) => `${groupText[group].name} ${percent(count / total, 0)}`).join(', ');
  return (
    <span class="bar" role="img" aria-label={label} title={label}>
      {parts.map(([group, count]) => {
        const share = (count / total) * scale;
        return (
          <span key={group} class={`g g-${group}`} style={{width: `${share * 100}%`}}>
            {letters && share > 0.07 ? group : ''}
          </span>
        );
      })}
    </span>
  );
}

export function CauseList({causes, cycles}: {causes: Counts; cycles: number}) {
  const known = Object.values(causes).reduce((sum, count) => sum + count, 0);
  const rows = sortedCauses(causes);
  if (cycles > known) rows.push(['not in causes', cycles - known]);
  const total = Math.max(cycles, known);
  return (
    <table class="plain causes">
      <tbody>
        {rows.map(([cause, count]) => (
          <tr key={cause}>
            <td>
              <Swatch group={cause === 'not in causes' ? 'N' : groupOf(cause)} /> {cause}
            </td>
            <td class="num">{int(count)}</td>
            <td class="num">{percent(total ? count / total : 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Legend() {
  return (
    <div class="legend" aria-label="causes of cycles">
      {groups.map((group) => (
        <span key={group} title={groupText[group].long}>
          <Swatch group={group} /> {groupText[group].name}
        </span>
      ))}
    </div>
  );
}
