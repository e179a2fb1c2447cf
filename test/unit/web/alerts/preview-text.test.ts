import { expect } from 'chai';
import fc from 'fast-check';
import type { RulePreview } from '../../../../schemas/api/insight/alerts.ts';
import { barsOf, midnights, previewText } from '../../../../web/src/features/alerts/rules/preview-text.ts';

const TO = Date.parse('2026-11-28T09:00:00Z');
const DAY = 86_400_000;
const preview = (change: Partial<RulePreview> = {}): RulePreview => ({
  ...{ from: new Date(TO - 7 * DAY), to: new Date(TO), series: 3, firings: 0, subjects: 0, firingNow: 0 },
  ...{ events: [], note: null, ...change },
});
const firing = (from: number, to: number | null) => ({
  ...{ nodeId: 'n', nodeName: 'edge-1', pipelineId: null, pipelineName: null, peak: 1 },
  ...{ firedAt: new Date(from), resolvedAt: to === null ? null : new Date(to) },
});

describe('the preview of a rule', () => {
  it('says how often, on how many and whether now', () => {
    expect(previewText(preview({ firings: 3, subjects: 2 }), 'cpu_usage')).to.equal(
      'Would have fired 3 times on 2 nodes in the last 7 days; firing now on 0.',
    );
    expect(previewText(preview({ firings: 1, subjects: 1, firingNow: 1 }), 'error_rate')).to.equal(
      'Would have fired once on 1 deployed pipeline in the last 7 days; firing now on 1.',
    );
    expect(previewText(preview(), 'cpu_usage')).to.equal(
      'Would not have fired in the last 7 days, over 3 nodes; firing now on 0.',
    );
    expect(previewText(preview({ series: 0 }), 'cpu_usage')).to.match(/^Nothing was recorded/);
  });

  it('draws each firing inside the strip, wide enough to be seen', () => {
    const moment = fc.integer({ min: TO - 8 * DAY, max: TO });
    fc.assert(
      fc.property(moment, fc.option(fc.integer({ min: 0, max: 2 * DAY })), (at, lasts) => {
        const events = [firing(at, lasts === null ? null : at + lasts)];
        const [bar] = barsOf(preview({ events }), 700, 3);
        expect(bar?.x).to.be.within(0, 700);
        expect(bar?.width).to.be.at.least(3);
        expect((bar?.x ?? 0) + (bar?.width ?? 0)).to.be.at.most(700.001);
      }),
    );
  });

  it('names each day that begins in it', () => {
    const days = midnights(preview());
    expect(days).to.have.length(7);
    expect(days.every((at) => new Date(at).getHours() === 0)).to.equal(true);
  });
});
