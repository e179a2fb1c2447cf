const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/**
 * What VRL would read as anything but text between double quotes: the end of the string, escapes, and templates
 * (`{{ name }}`). VRL takes a backslash before `}}` for an escape even if that backslash is escaped itself, and one before
 * a single `}` for a fault. The rest cannot stand in a YAML block unescaped: controls, line separators, byte order marks.
 */
const SPECIAL = /\}\}|[\\"{\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** The value as it stands in a VRL string in double quotes, on one line. */
export const escapeForVrl = (value: string): string =>
  value.replace(SPECIAL, (found) => {
    const code = found.charCodeAt(0);
    if (found in ESCAPES) return ESCAPES[found] as string;
    // Known to the engine since 0.57; the characters have no other escape.
    return code < 0x20 || code > 0x7e ? `\\u{${code.toString(16)}}` : `\\${found}`;
  });
