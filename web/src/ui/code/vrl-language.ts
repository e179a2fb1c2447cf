/** VRL for the eye: comments, texts, paths, functions. It is the compiler that says what is right. */
import { StreamLanguage, type StringStream } from '@codemirror/language';

const WORDS = /^(?:if|else|abort|return|null|true|false|as|in)\b/;

interface State {
  /** Inside of a text that goes on in the next line: the sign that ends it. */
  quote: string | null;
}

function restOfText(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    const sign = stream.next();
    if (sign === '\\') stream.next();
    else if (sign === state.quote) {
      state.quote = null;
      break;
    }
  }
  return 'string';
}

export const vrl = StreamLanguage.define<State>({
  name: 'vrl',
  startState: () => ({ quote: null }),
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
  token(stream, state) {
    if (state.quote !== null) return restOfText(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return 'comment';
    if (stream.match(/^[rst]?'/)) {
      state.quote = "'";
      return restOfText(stream, state);
    }
    if (stream.eat('"')) {
      state.quote = '"';
      return restOfText(stream, state);
    }
    if (stream.match(WORDS)) return 'keyword';
    if (stream.match(/^\d[\d_]*(?:\.\d+)?/)) return 'number';
    if (stream.match(/^[.%]@?[A-Za-z_]\w*(?:\.[A-Za-z_@]\w*)*/) || stream.match(/^[.%](?![.%])/))
      return 'propertyName';
    if (stream.match(/^[A-Za-z_]\w*(?=!?\()/)) return 'keyword';
    if (stream.match(/^[A-Za-z_]\w*/)) return 'variableName';
    stream.next();
    return null;
  },
});
