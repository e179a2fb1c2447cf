import { expect } from 'chai';
import { Timestamp } from '../../../examples/engine/event.ts';
import { PathTemplate } from '../../../examples/engine/sinks/path-template.ts';
import { offsetIn } from '../../../examples/engine/templates/time-zone.ts';

const now = new Date('2026-03-04T05:06:07Z');

describe('the path of the file sink', () => {
  it('takes times and fields', () => {
    const template = new PathTemplate('/logs/%Y-%m-%d/{{ host }}-{{ .k8s.pod }}.log');
    expect(template.render({ host: 'n1', k8s: { pod: 7 } }, now)).to.equal('/logs/2026-03-04/n1-7.log');
    expect(new PathTemplate('/l/{{ t }}').render({ t: new Timestamp('x') }, now)).to.equal('/l/x');
  });

  const escapes = ['../etc', '/etc/passwd', '..', '.', 'a\\b', 'a\u0000b', '', 'x'.repeat(300)];
  for (const value of escapes) {
    it(`refuses the value ${JSON.stringify(value).slice(0, 20)}`, () => {
      expect(new PathTemplate('/logs/{{ host }}').render({ host: value }, now)).to.equal(undefined);
    });
  }

  it('refuses an event without the field', () => {
    expect(new PathTemplate('/logs/{{ host }}').render({}, now)).to.equal(undefined);
  });

  it('needs a literal start or a base directory', () => {
    expect(new PathTemplate('{{ host }}/x').confinementErrors[0]).to.include(
      'has no literal directory prefix',
    );
    expect(new PathTemplate('{{ host }}.log', { baseDir: '/base' }).render({ host: 'a' }, now)).to.equal(
      '/base/a.log',
    );
  });

  it('stays below its base directory', () => {
    expect(
      new PathTemplate('/elsewhere/{{ host }}', { baseDir: '/base' }).render({ host: 'a' }, now),
    ).to.equal(undefined);
  });

  it('knows the signs of strftime, in the given time zone', () => {
    const at = new Date('2026-01-04T23:05:06.007Z');
    const render = (text: string, zone = 'UTC') =>
      new PathTemplate(text, { offset: offsetIn(zone) }).render({}, at);
    expect(render('%F %T %j %a %b %e %y %G-W%V %s %%')).to.equal(
      '2026-01-04 23:05:06 004 Sun Jan  4 26 2026-W01 1767567906 %',
    );
    expect(render('%Y-%m-%dT%H:%M:%S%z', 'Asia/Kolkata')).to.equal('2026-01-05T04:35:06+0530');
    expect(render('%-d/%-m %I %p %.3f')).to.equal('4/1 11 PM .007');
    expect(() => new PathTemplate('/a/%Q')).to.throw('Invalid strftime item');
  });
});
