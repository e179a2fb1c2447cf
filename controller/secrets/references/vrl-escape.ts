const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/**
 * Characters that VRL does not read as text between double quotes: the end of the string, escapes, and templates
 * (`{{ name }}`). VRL reads a backslash before `}}` as an escape even if that backslash is escaped itself, and one before
 * a single `}` as an error. The others are not allowed unescaped in a YAML block: controls, line separators, byte order marks.
 */
const SPECIAL = /\}\}|[\\"{\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Escapes a value for a VRL string in double quotes, on one line. */
export const escapeForVrl = (value: string): string =>
  value.replace(SPECIAL, (found) => {
    const code = found.charCodeAt(0);
    if (found in ESCAPES) return ESCAPES[found] as string;
    // The engine reads `\u{…}` since 0.57; these characters have no other escape.
    return code < 0x20 || code > 0x7e ? `\\u{${code.toString(16)}}` : `\\${found}`;
  });
