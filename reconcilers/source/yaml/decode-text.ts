/** From bytes to text: what is not plain UTF-8 text is refused with the place where it stops being that. */
import { isUtf8 } from 'node:buffer';
import { formatPosition } from '../../../controller/platform/yaml/position.ts';
import type { Finding } from '../finding.ts';

const LFS_POINTER = 'version https://git-lfs.github.com/spec/';
const decoder = new TextDecoder('utf-8');

function notUtf8(bytes: Uint8Array): Finding {
  const hint = 'Save the file as UTF-8.';
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { stage: 'parse', message: 'the file is UTF-16, not UTF-8', hint, line: 1, column: 1 };
  }
  const text = decoder.decode(bytes);
  const found = formatPosition(text, Math.max(text.indexOf('\ufffd'), 0));
  return {
    stage: 'parse',
    message: 'the file is not UTF-8; here is a byte that cannot be read',
    hint,
    ...found,
  };
}

/** A text without byte order mark, or why it is none. Both line endings are fine and are kept. */
export function decodeText(bytes: Uint8Array): string | Finding {
  if (!isUtf8(bytes)) return notUtf8(bytes);
  const text = decoder.decode(bytes);
  if (text.startsWith(LFS_POINTER)) {
    return {
      stage: 'parse',
      message: 'this is a pointer of git LFS; the file itself is not in the repository',
      hint: 'Take the file out of LFS (git lfs untrack) and commit it again.',
      line: 1,
      column: 1,
    };
  }
  const control = text.search(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/);
  if (control >= 0) {
    const code = text.charCodeAt(control);
    const wide = code === 0 && (text.charCodeAt(control + 2) === 0 || control === 0);
    return {
      stage: 'parse',
      message: code === 0 ? 'the file holds a NUL byte' : `the file holds the control character ${code}`,
      hint: wide
        ? 'It looks like UTF-16: save it as UTF-8.'
        : 'Remove it; in a quoted text write it as an escape.',
      ...formatPosition(text, control),
    };
  }
  const marker = text.search(/^(?:<{7}|>{7}|\|{7})(?: |\r?$)/m);
  if (marker >= 0) {
    return {
      stage: 'parse',
      message: 'here is the marker of a merge conflict',
      hint: 'Resolve the conflict and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.',
      ...formatPosition(text, marker),
    };
  }
  return text;
}
