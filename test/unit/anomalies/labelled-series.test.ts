/** Detection on a set of made-up series whose anomalies are known, beside a plain three-sigma rule. */
import { expect } from 'chai';
import { makeSet } from '../../support/fixtures/anomaly-series.ts';
import {
  alarmsOf,
  count,
  headgate,
  precisionOf,
  recallOf,
  threeSigma,
} from '../../support/fixtures/replay-series.ts';

describe('anomalies of labelled series', () => {
  const set = makeSet(4);

  it('are found, nine of ten, and four of five alarms are right', function () {
    this.timeout(60_000);
    const counted = count(set, headgate());
    expect(counted.labels).to.be.greaterThan(80);
    expect(recallOf(counted), 'recall').to.be.at.least(0.9);
    expect(precisionOf(counted), 'precision').to.be.at.least(0.8);
    const plain = count(set, threeSigma);
    expect(recallOf(counted)).to.be.greaterThan(recallOf(plain));
    expect(precisionOf(counted)).to.be.greaterThan(precisionOf(plain));
  });

  it('are few where nothing is unusual: less than one in two weeks of a series', function () {
    this.timeout(60_000);
    const quiet = makeSet(4, { isQuiet: true }).filter(({ labels }) => labels.length === 0);
    expect(quiet).to.have.length.greaterThan(30);
    expect(count(quiet, headgate()).alarms).to.be.at.most(quiet.length / 2);
  });

  it('is one of a level that a deploy shifts, which ends within half a day', function () {
    this.timeout(60_000);
    for (const series of makeSet(6, { isQuiet: true }).filter(({ labels }) => labels.length > 0)) {
      const [label] = series.labels;
      const [first, ...more] = alarmsOf(series, headgate()).filter(
        ({ direction, from }) => direction === label!.direction && from >= label!.from,
      );
      expect(first!.from - label!.from, 'steps of five minutes').to.be.at.most(12);
      expect(first!.to - label!.from, 'steps of five minutes').to.be.at.most(13 * 12);
      expect(more).to.have.length.at.most(1);
    }
  });
});
