/** What is read on the pull request of a promotion: names of people and fields, and nothing that acts. */
import { expect } from 'chai';
import fc from 'fast-check';
import { renderBody, renderTitle } from '../../../reconcilers/promotions/pull-request-body.ts';

const promotion = { pipelineName: 'orders', targetName: 'orders', sourceVersion: 3, requestedBy: 'Ada' };
const draft = { path: 'p/orders.yaml', before: '', fields: [], conflicts: [], retained: [], notes: [] };
const health = { state: 'healthy' as const, message: 'Version 3 runs on 2 of 2 nodes' };
const of = (more: Partial<Parameters<typeof renderBody>[0]> = {}) => ({
  ...{ promotion, sourceName: 'staging', targetName: 'production', draft, health, missingSecrets: [] },
  url: 'https://headgate.example.org/e/1/promotions',
  ...more,
});

describe('the pull request of a promotion', () => {
  it('says what it brings, what to do before it is merged, and what stays', () => {
    const text = renderBody(
      of({
        draft: {
          ...draft,
          fields: [
            { pointer: '/sinks/out/uri', before: '"a"', after: '"b"' },
            { pointer: '/transforms/new', before: null, after: '{}' },
          ],
          conflicts: ['/logLevel'],
          retained: ['/nodeSelector'],
          notes: ['there is no value named host in spec.values; Add it'],
        },
        health: { state: 'unhealthy', message: 'crashed on 1' },
        missingSecrets: ['SVC_SECRET_TOKEN'],
      }),
    );
    expect(text)
      .to.contain('Brings `orders` (version 3) from staging to production. Requested by Ada.')
      .and.contain('**It is not healthy there.**')
      .and.contain('- `/sinks/out/uri`\n- `/transforms/new` is new')
      .and.contain('- `SVC_SECRET_TOKEN` does not exist in production; create it before merging')
      .and.contain('- `/logLevel`: the value of staging is used')
      .and.contain('#### Stays as production has it\n\n- `/nodeSelector`');
    expect(text).not.to.contain('"b"');
  });

  it('is short, however much there is', () => {
    const many = Array.from({ length: 5_000 }, (_, n) => `/sinks/${'x'.repeat(200)}${n}/uri`);
    const text = renderBody(of({ draft: { ...draft, conflicts: many, retained: many, notes: many } }));
    expect(text.length).to.be.below(60_000);
    expect(renderTitle(of({ sourceName: 'x'.repeat(500) })).length).to.equal(200);
  });

  it('lets no name be markup, a mention or another line', () => {
    const bad = fc.string({
      unit: fc.constantFrom('@', '<', '`', '|', '\n', '#', '[', ']', '(', ')', '!', 'a', ' '),
    });
    fc.assert(
      fc.property(bad, (name) => {
        const text = renderBody(
          of({
            sourceName: name,
            promotion: { ...promotion, requestedBy: name },
            draft: { ...draft, notes: [name], retained: [name] },
          }),
        );
        const outside = text.replaceAll(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
        expect(outside).not.to.match(/@[a-z]|<a|!\[a\]\(|^# /m);
        expect(renderTitle(of({ sourceName: name }))).not.to.contain('\n');
      }),
    );
  });
});
