// A window on a long list of rows of one height: only what is in sight is in the document.
import type {ComponentChildren, RefObject} from 'preact';
import {useCallback, useLayoutEffect, useRef, useState} from 'preact/hooks';

export interface Window {
  first: number;
  last: number;
}

export function useWindow(
  count: number,
  rowHeight: number,
  headHeight = 0,
): [RefObject<HTMLDivElement | null>, Window, (index: number) => void] {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({top: 0, height: 600});
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const read = () =>
      setView((old) =>
        old.top === box.scrollTop && old.height === box.clientHeight
          ? old
          : {top: box.scrollTop, height: box.clientHeight},
      );
    read();
    box.addEventListener('scroll', read, {passive: true});
    const observer = new ResizeObserver(read);
    observer.observe(box);
    return () => {
      box.removeEventListener('scroll', read);
      observer.disconnect();
    };
  }, []);
  const show = useCallback(
    (index: number) => {
      const box = ref.current;
      if (!box) return;
      const top = index * rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + rowHeight > box.scrollTop + box.clientHeight - headHeight)
        box.scrollTop = top + rowHeight - box.clientHeight + headHeight;
    },
    [rowHeight, headHeight],
  );
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 4);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + 4);
  return [ref, {first, last: Math.max(first, last)}, show];
}

/** Rows first..last at their places in a body as tall as all rows. */
export function Rows(props: {
  count: number;
  window: Window;
  rowHeight: number;
  row: (index: number) => ComponentChildren;
}) {
  const {count, window, rowHeight, row} = props;
  const rows: ComponentChildren[] = [];
  for (let i = window.first; i < Math.min(window.last, count); ++i) rows.push(row(i));
  return (
    <div class="rows" role="presentation" style={{height: `${count * rowHeight}px`}}>
      <div role="presentation" style={{transform: `translateY(${window.first * rowHeight}px)`}}>
        {rows}
      </div>
    </div>
  );
}
