/** Vertical lines at moments of a chart, and shades over times. */
import type uPlot from 'uplot';
import type { Mark } from './time-series.ts';

const SHADE = 0.16;
/** How far from a line a click may be, in CSS pixels. */
const REACH = 6;

/** The nearest mark that a click at `left` opens. */
export function markAt(chart: uPlot, marks: readonly Mark[], left: number): Mark | undefined {
  const distance = ({ at }: Mark): number => Math.abs(chart.valToPos(at / 1_000, 'x') - left);
  return marks
    .filter((mark) => mark.open !== undefined && distance(mark) <= REACH)
    .sort((a, b) => distance(a) - distance(b))[0];
}

/** A click on a mark opens it; what was a drag does not. Answers what ends the listening. */
export function openMarks(chart: uPlot, marks: () => readonly Mark[]): () => void {
  let from = 0;
  const press = (event: MouseEvent): void => {
    from = event.clientX;
  };
  const click = (event: MouseEvent): void => {
    if (Math.abs(event.clientX - from) > REACH) return;
    markAt(chart, marks(), event.clientX - chart.over.getBoundingClientRect().left)?.open?.();
  };
  chart.over.addEventListener('mousedown', press);
  chart.over.addEventListener('click', click);
  return () => {
    chart.over.removeEventListener('mousedown', press);
    chart.over.removeEventListener('click', click);
  };
}

export function drawMarks(chart: uPlot, marks: readonly Mark[], token: (name: string) => string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  const right = bbox.left + bbox.width;
  for (const { at, to, color, dashed } of marks) {
    const x = chart.valToPos(at / 1_000, 'x', true);
    if (to !== undefined) {
      const from = Math.max(x, bbox.left);
      const until = Math.min(chart.valToPos(to / 1_000, 'x', true), right);
      ctx.globalAlpha = SHADE;
      ctx.fillStyle = token(color);
      if (until > from) ctx.fillRect(from, bbox.top, until - from, bbox.height);
      ctx.globalAlpha = 1;
    }
    if (x < bbox.left || x > right) continue;
    ctx.strokeStyle = token(color);
    ctx.setLineDash(dashed ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
