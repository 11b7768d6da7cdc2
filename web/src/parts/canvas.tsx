// A canvas that follows its box's width and the screen's pixels, and fills with the causes' colours and patterns.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {Group} from '../causes';
import type {What} from '../live';

/** What a canvas fills with: groups of causes and kinds of buffers. */
export type Fill = Group | What;

export interface Ink {
  text: string;
  dim: string;
  line: string;
  back: string;
  mark: string;
  panel: string;
  meter: string;
}
export interface Painter {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  ink: Ink;
  fill(name: Fill): CanvasPattern | string;
  font: string;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: value('--text'),
    dim: value('--dim'),
    line: value('--line'),
    back: value('--back'),
    mark: value('--mark'),
    panel: value('--panel'),
    meter: value('--meter'),
  };
}

/** The same patterns as in style/causes.css. */
function tile(group: Fill, style: CSSStyleDeclaration, scale: number): HTMLCanvasElement | string {
  const color = style.getPropertyValue(`--g-${group}`).trim();
  const stripe = style.getPropertyValue(`--g-${group}-2`).trim();
  if (!stripe) return color;
  const size = 8 * scale;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d')!;
  context.fillStyle = color;
  context.fillRect(0, 0, size, size);
  context.strokeStyle = context.fillStyle = stripe;
  context.lineWidth = 2 * scale;
  const line = (x0: number, y0: number, x1: number, y1: number) => {
    context.beginPath();
    context.moveTo(x0 * size, y0 * size);
    context.lineTo(x1 * size, y1 * size);
    context.stroke();
  };
  const rising = () => [-1, 0, 1].forEach((k) => line(k - 0.25, 1.25, k + 1.25, -0.25));
  const falling = () => [-1, 0, 1].forEach((k) => line(k - 0.25, -0.25, k + 1.25, 1.25));
  if (group === 'D' || group === 'temporary') rising();
  else if (group === 'T' || group === 'result') falling();
  else if (group === 'L') {
    context.lineWidth = 1.2 * scale;
    rising();
    falling();
  } else if (group === 'P' || group === 'constant') {
    context.beginPath();
    context.arc(size / 2, size / 2, 1.6 * scale, 0, 7);
    context.fill();
  } else if (group === 'O') line(0, 0.5, 1, 0.5);
  else if (group === 'N') line(0.5, 0, 0.5, 1);
  return canvas;
}

function painterOf(canvas: HTMLCanvasElement, width: number, height: number): Painter {
  const scale = Math.max(1, devicePixelRatio || 1);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d')!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const fills = new Map<Fill, CanvasPattern | string>();
  const fill = (group: Fill) => {
    let made = fills.get(group);
    if (!made) {
      const pattern = tile(group, style, scale);
      if (typeof pattern === 'string') made = pattern;
      else {
        made = context.createPattern(pattern, 'repeat')!;
        made.setTransform(new DOMMatrix().scale(1 / scale));
      }
      fills.set(group, made);
    }
    return made;
  };
  return {context, width, height, ink: inkOf(canvas), fill, font: style.fontFamily};
}

export interface CanvasProps {
  height: number;
  label: string;
  id: string;
  draw: (painter: Painter) => void;
  deps: unknown[];
  onPoint?: (x: number, y: number, event: MouseEvent) => void;
  onLeave?: () => void;
  onClick?: (x: number, y: number, event: MouseEvent) => void;
  onDouble?: (x: number, y: number) => void;
  onWheel?: (x: number, event: WheelEvent) => void;
  onKey?: (event: KeyboardEvent) => void;
  onDrag?: (dx: number, x: number) => void;
  onSize?: (width: number) => void;
}

export function Canvas(props: CanvasProps) {
  const ref = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const drag = useRef<{x: number; moved: boolean} | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useLayoutEffect(() => {
    const parent = ref.current!.parentElement!;
    const read = () => setWidth(Math.max(100, Math.floor(parent.clientWidth)));
    read();
    const observer = new ResizeObserver(read);
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const canvas = ref.current!;
    const wheel = (event: WheelEvent) => latest.current.onWheel?.(event.offsetX, event);
    canvas.addEventListener('wheel', wheel, {passive: false});
    return () => canvas.removeEventListener('wheel', wheel);
  }, []);
  const scheme = document.documentElement.dataset['scheme'];
  useLayoutEffect(() => {
    if (!width) return;
    props.onSize?.(width);
    props.draw(painterOf(ref.current!, width, props.height));
  }, [width, props.height, scheme, ...props.deps]);
  return (
    <div class="canvas-wrap">
      <canvas
        ref={ref}
        id={props.id}
        role="img"
        aria-label={props.label}
        tabIndex={props.onKey ? 0 : undefined}
        style={{width: `${width}px`, height: `${props.height}px`}}
        onMouseMove={(event) => {
          const held = drag.current;
          if (held && event.buttons === 1 && props.onDrag) {
            if (Math.abs(event.offsetX - held.x) > 2 || held.moved) {
              held.moved = true;
              props.onDrag(event.offsetX - held.x, event.offsetX);
              held.x = event.offsetX;
            }
            return;
          }
          props.onPoint?.(event.offsetX, event.offsetY, event);
        }}
        onMouseDown={(event) => {
          drag.current = {x: event.offsetX, moved: false};
        }}
        onMouseLeave={() => {
          drag.current = null;
          props.onLeave?.();
        }}
        onClick={(event) => {
          const moved = drag.current?.moved;
          drag.current = null;
          if (!moved) props.onClick?.(event.offsetX, event.offsetY, event);
        }}
        onDblClick={(event) => props.onDouble?.(event.offsetX, event.offsetY)}
        onKeyDown={(event) => props.onKey?.(event)}
      />
    </div>
  );
}

/** Text cut to a width, with an ellipsis; nothing where not even a few letters fit. */
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 8) return '';
  const letter = context.measureText('n').width;
  const most = Math.floor(width / letter);
  if (text.length <= most && context.measureText(text).width <= width) return text;
  if (most < 3) return '';
  let cut = text.slice(0, most + 2);
  while (cut.length > 1 && context.measureText(`${cut}\u2026`).width > width) cut = cut.slice(0, -1);
  return cut.length > 1 ? `${cut}\u2026` : '';
}
