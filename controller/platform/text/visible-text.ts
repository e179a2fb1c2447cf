/** Texts of manifests and file names: what steers a terminal, or is not seen, is not written to one. One line stays one line. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, (sign) =>
    sign === '\t' ? ' ' : '\ufffd',
  );
