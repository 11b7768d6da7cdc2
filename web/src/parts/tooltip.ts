// One floating box of text for pictures that are drawn on a canvas.
let box: HTMLDivElement | null = null;

export function showTip(x: number, y: number, lines: string[]): void {
  if (!box) {
    box = document.createElement('div');
    box.className = 'tip';
    box.setAttribute('role', 'status');
    document.body.append(box);
  }
  box.textContent = lines.join('\n');
  box.hidden = false;
  const {offsetWidth: width, offsetHeight: height} = box;
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}

export function hideTip(): void {
  if (box) box.hidden = true;
}
