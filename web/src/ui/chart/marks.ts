/** Vertical lines at moments of a chart, and shades over times. */
import type uPlot from 'uplot';
import type { Mark } from './time-series.ts';

const SHADE = 0.16;

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
