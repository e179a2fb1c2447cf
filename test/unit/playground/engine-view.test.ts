import { expect } from 'chai';
import { engineView, fromBytes, positionAt } from '../../../controller/pipelines/engine/engine-view.ts';

describe('what an engine sees of a text', () => {
  it('has one dollar for two, and a value for each variable', () => {
    const { text } = engineView(`a = "$$1 \${SVC_SECRET_A} \${B:-x}$" `);
    expect(text).to.equal('a = "$1 secret secret$" ');
  });

  const source = `.a = "$$x"\n.b = \${LONGER_THAN_THAT} + oh\n.c = \${C} + no`;
  for (const word of ['.a', '.b', 'oh', '.c', 'no']) {
    it(`leads back from ${word} to where it was written`, () => {
      const view = engineView(source);
      const found = view.written(view.text.indexOf(word));
      expect(source.slice(found, found + word.length)).to.equal(word);
    });
  }

  it('tells lines and columns from 1, after any line break', () => {
    expect(positionAt('ab\ncd', 0)).to.deep.equal({ line: 1, column: 1 });
    expect(positionAt('ab\ncd', 3)).to.deep.equal({ line: 2, column: 1 });
    expect(positionAt('ab\ncd', 5)).to.deep.equal({ line: 2, column: 3 });
  });

  it('counts UTF-16 units where the compiler counts bytes', () => {
    expect(fromBytes('ä🎉x', 6)).to.equal(3);
  });
});
