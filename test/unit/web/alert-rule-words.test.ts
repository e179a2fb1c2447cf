import { expect } from 'chai';
import { ruleText } from '../../../web/src/features/alerts/rule-text.ts';

type Rule = Parameters<typeof ruleText>[0];
const rule = (change: Partial<Rule>): Rule => ({
  metric: 'cpu_usage',
  condition: 'gt',
  threshold: 90,
  durationSeconds: 60,
  ...change,
});

describe('an alert rule in words', () => {
  const cases: [Partial<Rule>, string][] = [
    [{}, 'CPU usage above 90 % for 60 s'],
    [{ durationSeconds: 0 }, 'CPU usage above 90 %'],
    [{ durationSeconds: 300 }, 'CPU usage above 90 % for 5 min'],
    [{ metric: 'disk_usage', condition: 'lt', threshold: 5.25 }, 'Disk usage below 5.25 % for 60 s'],
    [{ metric: 'error_rate', condition: 'eq', threshold: 1500 }, 'Errors exactly 1,500/s for 60 s'],
    [{ metric: 'node_unreachable', condition: 'eq', threshold: 1 }, 'Node is unreachable for 60 s'],
    [{ metric: 'node_unreachable', condition: 'gt', threshold: 0 }, 'Node is unreachable for 60 s'],
    [{ metric: 'node_unreachable', condition: 'lt', threshold: 1 }, 'Node is reachable for 60 s'],
    [
      { metric: 'pipeline_crashed', condition: 'gt', threshold: 3 },
      'Pipeline has crashed: never met, as it is 0 or 1',
    ],
    [
      { metric: 'pipeline_crashed', condition: 'lt', threshold: 3 },
      'Pipeline has crashed: always met, as it is 0 or 1',
    ],
  ];
  for (const [change, words] of cases)
    it(`says “${words}”`, () => expect(ruleText(rule(change))).to.equal(words));
});
