/** Translates time formats of Ruby's strftime and strptime to those of VRL, which are chrono's. */

export interface TimeFormat {
  format: string;
  /** The format names no year, as in syslog: the current one has to be added. */
  lacksYear: boolean;
  /** A comma stands before the fraction, where `format` has a point: it is to be replaced in what is parsed. */
  hasComma: boolean;
}

const ISO = /^%(?:Y-%m-%d|F)T%(?:H:%M:%S|T)(?:\.%[0-9]?[NL])?(?:Z|%z|%:z)$/;
const YEAR = /%[-0^]?[YyGgsFcDvx+CQ]/;
/** Directives that both read alike. */
const SAME: ReadonlySet<string> = new Set([...'YCymbBhdejHklIMSpPaAuwUWGgVzZsDFTRcxXvn%t']);

/** Null if a directive has no counterpart. `purpose` is the direction: fractions are read and written otherwise. */
export function translateTimeFormat(text: string, purpose: 'parse' | 'format'): TimeFormat | null {
  if (purpose === 'parse' && (ISO.test(text) || text === 'iso8601' || text === '%iso8601'))
    return { format: '%+', lacksYear: false, hasComma: false };
  let format = '';
  let hasComma = false;
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at, at + 16);
    const fraction = /^([.,])?%([0-9])?([NL])/.exec(rest);
    if (fraction) {
      const [written, mark = '', width, kind] = fraction;
      const digits = width ?? (kind === 'L' ? '3' : '9');
      // chrono reads a point and any number of digits as %.f
      if (mark === '.' && purpose === 'parse') format += '%.f';
      else if (mark === ',' && purpose === 'parse' && /(?::%S|%T)$/.test(format)) {
        hasComma = true;
        format += '%.f';
      } else format += `${mark}%${['3', '6', '9'].includes(digits) ? digits : '9'}f`;
      at += written.length;
      continue;
    }
    const directive = /^%([-0^:_]*)([A-Za-z%])/.exec(rest);
    if (directive) {
      const [written, flags = '', letter = ''] = directive;
      if (!SAME.has(letter) || flags.length > 1 || (flags === ':' && letter !== 'z')) return null;
      if (flags === '^') return null;
      // The names of zones are read over, and what they mean is not known.
      if (letter === 'Z' && purpose === 'parse') return null;
      format += written;
      at += written.length;
      continue;
    }
    if (rest.startsWith('%')) return null;
    format += text[at];
    at += 1;
  }
  return { format, lacksYear: purpose === 'parse' && !YEAR.test(text), hasComma };
}
