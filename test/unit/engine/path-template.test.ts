import { expect } from 'chai';
import { Timestamp } from '../../../examples/engine/event.ts';
import { PathTemplate } from '../../../examples/engine/sinks/path-template.ts';

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
    expect(() => new PathTemplate('{{ host }}/x')).to.throw('has no literal string prefix');
    expect(new PathTemplate('{{ host }}.log', '/base').render({ host: 'a' }, now)).to.equal('/base/a.log');
  });

  it('stays below its base directory', () => {
    expect(new PathTemplate('/elsewhere/{{ host }}', '/base').render({ host: 'a' }, now)).to.equal(undefined);
  });
});
