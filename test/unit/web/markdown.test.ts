/** Markdown of pull requests: what people and Headgate write, and what nobody may make of it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { blocksOf, inlinesOf } from '../../../web/src/components/markdown.ts';
import { patient } from '../../support/harness/patience.ts';

const textsOf = (markdown: string): string => JSON.stringify(blocksOf(markdown));

describe('markdown', () => {
  it('tells headings, paragraphs, lists, quotes, code and tables apart', () => {
    const written = [
      '## What changes ##',
      'one line',
      'and another',
      '',
      '- first',
      '  goes on',
      '- second',
      '1. counted',
      '2) counted too',
      '> said',
      '> before',
      '',
      '```yaml',
      '# no heading',
      '',
      '- no list',
      '```',
      '| Field | Value |',
      '|---|:-:|',
      '| a \\| b | `c` |',
      '<!-- headgate:plan:1 -->',
    ];
    expect(blocksOf(written.join('\r\n'))).to.deep.equal([
      { kind: 'heading', text: 'What changes' },
      { kind: 'paragraph', text: 'one line\nand another' },
      { kind: 'list', ordered: false, items: ['first\ngoes on', 'second'] },
      { kind: 'list', ordered: true, items: ['counted', 'counted too'] },
      { kind: 'quote', text: 'said\nbefore' },
      { kind: 'code', text: '# no heading\n\n- no list' },
      { kind: 'table', head: ['Field', 'Value'], rows: [['a | b', '`c`']] },
    ]);
  });

  it('ends code that is never closed with the text', () => {
    expect(blocksOf('```\na\n\nb')).to.deep.equal([{ kind: 'code', text: 'a\n\nb' }]);
    expect(blocksOf('```')).to.deep.equal([{ kind: 'code', text: '' }]);
  });

  it('reads marks inside of a line, and takes escapes at their word', () => {
    expect(inlinesOf('a **b** *c* _d_ `e*f*` \\*g\\* h_i_j')).to.deep.equal([
      { kind: 'text', text: 'a ' },
      { kind: 'strong', text: 'b' },
      { kind: 'text', text: ' ' },
      { kind: 'emphasis', text: 'c' },
      { kind: 'text', text: ' ' },
      { kind: 'emphasis', text: 'd' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'e*f*' },
      { kind: 'text', text: ' *g* h_i_j' },
    ]);
    expect(inlinesOf('2 * 3 * 4')).to.deep.equal([{ kind: 'text', text: '2 * 3 * 4' }]);
  });

  it('makes links of web addresses and of nothing else', () => {
    expect(
      inlinesOf('[one](https://example.org/a?b=c) https://example.org/d. <http://e.example>'),
    ).to.deep.equal([
      { kind: 'link', text: 'one', href: 'https://example.org/a?b=c' },
      { kind: 'text', text: ' ' },
      { kind: 'link', text: 'https://example.org/d', href: 'https://example.org/d' },
      { kind: 'text', text: '. ' },
      { kind: 'link', text: 'http://e.example', href: 'http://e.example' },
    ]);
    for (const bad of [
      '[x](javascript:alert(1))',
      '[x](/api/trpc)',
      '[x](data:text/html,1)',
      '![x](file:///etc)',
    ])
      expect(
        inlinesOf(bad).map(({ kind }) => kind),
        bad,
      ).to.not.include('link');
  });

  it('reads whatever is written, and loses no word of it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '- ',
        '1. ',
        '> ',
        '# ',
        '```\n',
        '|',
        '|---|',
        '\n',
        '\n\n',
        '**',
        '_',
        '`',
        '[',
        '](',
        ')',
        '\\',
      ),
      fc.stringMatching(/^[a-z]{3,8}$/),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const blocks = blocksOf(pieces.join(''));
        for (const block of blocks) {
          const texts =
            block.kind === 'list'
              ? block.items
              : block.kind === 'table'
                ? [...block.head, ...block.rows.flat()]
                : [block.text];
          for (const text of texts) inlinesOf(text);
        }
        const outsideOfFences = !pieces.includes('```\n');
        const words = pieces.filter((each) => /^[a-z]{3,8}$/.test(each));
        if (outsideOfFences) for (const word of words) expect(textsOf(pieces.join(''))).to.include(word);
      }),
      { numRuns: 500 },
    );
  });

  it('takes a long text in no time', () => {
    const started = performance.now();
    for (const hard of [
      '**'.repeat(5_000),
      '['.repeat(10_000),
      '`'.repeat(10_001),
      '|-'.repeat(5_000),
      '_a'.repeat(5_000),
    ])
      for (const block of blocksOf(hard)) if ('text' in block) inlinesOf(block.text);
    expect(performance.now() - started).to.be.below(patient(2_000));
  });
});
