/** What a user who pushed to the embedded repository is shown, as data and as lines. */
import type { PassReport } from '../pass-report.ts';
import { renderReport } from '../render-report.ts';

export type PushReport =
  | PassReport
  /** The report of another controller's pass, as its job recorded it. */
  | { type: 'recorded'; lines: readonly string[] }
  /** About the push as a whole, not about one environment. */
  | { type: 'notice'; message: string };

export function renderPushReport(report: PushReport): readonly string[] {
  switch (report.type) {
    case 'recorded':
      return report.lines;
    case 'notice':
      return [`Headgate: ${report.message}`];
    default:
      return renderReport(report);
  }
}
