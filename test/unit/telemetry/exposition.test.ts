import { expect } from 'chai';
import { expositionText } from '../../../controller/insight/telemetry/exposition/exposition.ts';

describe('the text format of Prometheus', () => {
  const of = (samples: { labels: Record<string, string>; value: number }[], help = 'Help.') =>
    expositionText([{ name: 'service_x', help, samples }]);

  it('has help and type of each metric before its samples', async () => {
    const text = await of([{ labels: { node_id: 'a' }, value: 1.5 }]);
    expect(text).to.equal('# HELP service_x Help.\n# TYPE service_x gauge\nservice_x{node_id="a"} 1.5\n');
    expect(await of([])).to.equal('# HELP service_x Help.\n# TYPE service_x gauge\n');
  });

  it('writes a metric without labels, and values that are no plain numbers', async () => {
    const text = await of([
      { labels: {}, value: Number.NaN },
      { labels: {}, value: Number.POSITIVE_INFINITY },
      { labels: {}, value: Number.NEGATIVE_INFINITY },
    ]);
    expect(text.split('\n').slice(2, 5)).to.deep.equal(['service_x NaN', 'service_x +Inf', 'service_x -Inf']);
  });

  it('escapes what would end a label or a line', async () => {
    const text = await of([{ labels: { node_name: 'a"b\\c\nd' }, value: 0 }], 'one\ntwo \\ three');
    expect(text).to.equal(
      '# HELP service_x one\\ntwo \\\\ three\n# TYPE service_x gauge\nservice_x{node_name="a\\"b\\\\c\\nd"} 0\n',
    );
  });

  it('lets others work between thousands of lines', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await of(Array.from({ length: 200_000 }, (_, value) => ({ labels: { node_id: `${value}` }, value })));
    clearInterval(timer);
    expect(turns).to.be.greaterThan(20);
  });
});
