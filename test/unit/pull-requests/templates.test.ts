/** Title and text of a pull request by the templates of its binding. */
import { expect } from 'chai';
import fc from 'fast-check';
import { renderPullRequest } from '../../../reconcilers/write-back/propose/pull-request-text.ts';

const REQUEST = {
  title: 'Promote orders from staging to production',
  body: 'What **changes**',
  subject: { kind: 'Pipeline', name: 'orders_[1]' },
  author: 'Ada',
};
const render = (title: string | null, body: string | null, more: Partial<typeof REQUEST> = {}) =>
  renderPullRequest(
    { pullRequestSettings: { title, body }, environmentName: 'production' },
    { ...REQUEST, ...more },
  );

describe('a template of pull requests', () => {
  it('is what Headgate writes where there is none', () =>
    expect(render(null, null)).to.deep.equal({ title: REQUEST.title, body: REQUEST.body }));

  it('fills title and text, with names as they are in the one and escaped in the other', () => {
    const made = render(
      '[{{environment}}] {{kind}} {{name}} by {{author}}',
      '{{body}}\n\nFor {{name}}: {{title}}',
    );
    expect(made.title).to.equal('[production] Pipeline orders_[1] by Ada');
    expect(made.body).to.match(/^What \*\*changes\*\*\n\nFor orders\\_\\\[1\\\]: Promote orders/);
  });

  it('fills nothing that came in by a value', () =>
    expect(render('{{author}}', '{{author}}', { author: '{{body}}' })).to.deep.include({
      title: '{{body}}',
    }));

  it('makes a title of one line and 200 characters, and never an empty one', () =>
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (template, author) => {
        const { title } = render(`${template}{{author}}`, null, { author });
        expect(title.length).to.be.within(1, 200);
        expect(title).to.not.match(/[\r\n]/);
        expect(title.isWellFormed()).to.equal(true);
      }),
    ));
});
