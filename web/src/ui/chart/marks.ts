/** Vertical lines at moments of a chart. */
import type uPlot from 'uplot';
import type { Mark } from './time-series.ts';

export function drawMarks(chart: uPlot, marks: readonly Mark[], token: (name: string) => string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { at, color, dashed } of marks) {
    const x = chart.valToPos(at / 1_000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = token(color);
    ctx.setLineDash(dashed ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
