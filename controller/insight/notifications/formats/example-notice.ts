/** The alert of tests and previews. */
import type { AlertNotice } from '../notice.ts';

export interface ExampleOptions {
  eventId: string;
  at: Date;
  team: { id: string; name: string };
  environment: { id: string; name: string };
  message?: string;
}

export const exampleNotice = ({ message, at, ...rest }: ExampleOptions): AlertNotice => ({
  ...rest,
  status: 'firing',
  at,
  firedAt: at,
  ruleId: 'example-rule',
  ruleName: 'Busy CPU',
  metric: 'cpu_usage',
  condition: 'gt',
  threshold: 90,
  durationSeconds: 60,
  value: 97.5,
  node: { id: 'example-node', name: 'edge-1', labels: { site: 'berlin' } },
  pipeline: null,
  message: message ?? 'CPU usage is 97.5 %, above 90 % for 60 s',
});
