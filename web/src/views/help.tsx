// Keys, letters of causes and tags of origins.
import {useLayoutEffect, useRef} from 'preact/hooks';
import {groupText, groups} from '../causes';
import {Swatch} from '../parts/cause_bar';
import {originText, origins, Tag} from '../parts/tag';
import {update} from '../store';

const keys: [string, string][] = [
  ['1 ... 9, 0', 'tabs, in their order'],
  ['/', 'search'],
  ['?', 'this page'],
  ['Escape', 'close; then clear the selection'],
  ['Tab', 'from pane to pane'],
  ['m', 'focus the model tree'],
  ['arrow keys', 'in the tree: up, down, open, close, to the parent; in tables: rows'],
  ['Enter', 'tree: open or close; table: select the row'],
  ['[ and ]', 'show or hide the tree, the selection pane'],
  ['s', 'next step'],
  ['t', 'automatic, dark or light'],
  ['+ - \u2190 \u2192 0', 'timeline, when focused: zoom, move, all of it'],
  ['\u2190 \u2192', 'memory, when focused: the cursor (with Shift: 10 positions)'],
];

export function Help() {
  const close = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => close.current?.focus(), []);
  return (
    <div
      class="overlay"
      role="dialog"
      aria-modal="true"
      aria-label="help"
      onClick={(event) => {
        if (event.target === event.currentTarget) update({overlay: 'none'});
      }}
    >
      <div class="sheet help">
        <div class="columns">
          <section>
            <h2>Keys</h2>
            <table class="plain">
              <tbody>
                {keys.map(([key, text]) => (
                  <tr key={key}>
                    <td>
                      <kbd>{key}</kbd>
                    </td>
                    <td>{text}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <section>
            <h2>Where numbers come from</h2>
            <table class="plain">
              <tbody>
                {origins.map((origin) => (
                  <tr key={origin}>
                    <td>
                      <Tag origin={origin} />
                    </td>
                    <td>{originText(origin)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <h2>Causes of cycles</h2>
            <table class="plain">
              <tbody>
                {groups.map((group) => (
                  <tr key={group}>
                    <td>
                      <Swatch group={group} />
                    </td>
                    <td>{groupText[group].name}</td>
                    <td class="dim">{groupText[group].long}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </div>
        <p>
          <button type="button" ref={close} onClick={() => update({overlay: 'none'})}>
            close
          </button>
        </p>
      </div>
    </div>
  );
}
