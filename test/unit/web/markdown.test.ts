/** Markdown of pull requests: what people and Headgate write, and what nobody may make of it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Markdown } from '../../../web/src/ui/text/markdown.ts';
import { toStaticMarkup } from '../../../web/static-markup.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const render = (text: string): string => toStaticMarkup(Markdown, { text });

describe('markdown', () => {
  it('renders headings, lists, quotes, code and tables, and no heading of the page', () => {
    const html = render(
      '## What changes\n\none line\n\n- first\n- second\n\n1. counted\n\n> quoted\n\n```yaml\n# no heading\n```\n\n| Field | Value |\n|---|---|\n| a \\| b | `c` |\n',
    );
    expect(html).to.include('<p class="markdown-heading">What changes</p>');
    expect(html).to.include('<ul><li>first</li><li>second</li></ul>');
    expect(html).to.include('<ol start="1"><li>counted</li></ol>');
    expect(html).to.match(/<blockquote>.*quoted/);
    expect(html).to.match(/<pre class="mono" tabindex="0"><code[^>]*># no heading/);
    expect(html).to.include('<td>a | b</td><td><code>c</code></td>');
    expect(html).not.to.match(/<h[1-6]/);
  });

  it('leaves out the comments by which Headgate finds its own', () => {
    expect(render('before <!-- headgate:plan:1 --> after')).not.to.include('headgate:plan');
  });

  it('shows links and pictures as text, so that no address carries away what a model has read', () => {
    const html = toStaticMarkup(Markdown, {
      text: '[a link](https://evil.example/?q=secret) ![a picture](https://evil.example/p.png) https://bare.example',
      plainLinks: true,
    });
    expect(html)
      .to.include('a link (https://evil.example/?q=secret)')
      .and.include('a picture (https://evil.example/p.png)');
    expect(html).to.not.match(/<a |<img|href=|src=/);
  });

  it('makes links of web addresses and of nothing else', () => {
    expect(render('[one](https://example.org/a?b=c)')).to.include(
      '<a href="https://example.org/a?b=c" target="_blank" rel="noreferrer">one</a>',
    );
    expect(render('see https://example.org/d.')).to.include('href="https://example.org/d"');
    for (const bad of [
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt:alert(1))',
      '[x](/api/trpc)',
      '[x](data:text/html,1)',
      '![x](file:///etc)',
      '[x]: javascript:alert(1)\n\n[x]',
    ])
      expect(render(bad), bad).not.to.include('<a ');
  });

  it('renders neither HTML nor pictures', () => {
    const html = render(
      '<script>alert(1)</script> <img src=x onerror=alert(1)> ![p](https://example.org/p.png)',
    );
    expect(html).not.to.match(/<(script|img)/);
    expect(html).to.include('<a href="https://example.org/p.png"');
  });

  it('renders whatever is written without an element that it does not know', () => {
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
        '<',
        '>',
      ),
      fc.constantFrom('<a href="x">', '<svg/onload=1>', 'javascript:', '"', '\\'),
      fc.stringMatching(/^[a-z]{3,8}$/),
    );
    const known =
      /^(?:[^<]|<\/?(?:div|p|ul|ol|li|blockquote|pre|code|table|thead|tbody|tr|th|td|strong|em|del|br|hr|a|input|mark)(?: [^<>]*)?\/?>)*$/;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(render(pieces.join(''))).to.match(known);
      }),
      { numRuns: 500 },
    );
  });

  it('renders a long hostile text at once', () => {
    const started = cpuMs();
    for (const hard of ['**', '[', '`', '|-', '_a', '>', '<a ', '![', '~~', '[a]('])
      render(hard.repeat(5_000));
    expect(cpuMs() - started).to.be.below(patient(2_000));
  });
});
