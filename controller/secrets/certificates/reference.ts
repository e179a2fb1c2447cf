/**
 * How configs refer to a certificate file: `${SVC_CERT_DIR}/<filename>`. The agent tells each engine in that variable the
 * folder into which it writes the files of its pipelines.
 */
export const CERT_DIR = 'SVC_CERT_DIR';

const FILENAME = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
/** `$$` is a literal dollar: what follows it is text. A default is bounded, so that looking takes time linear to the text. */
const REFERENCE = new RegExp(
  String.raw`\$\$|(\$\{${CERT_DIR}(?::?-[^}]{0,1024})?\}|\$${CERT_DIR}(?![\w.]))(?:/(${FILENAME}))?`,
  'g',
);

/** How a config writes it. */
export const referenceTo = (filename: string): string => `\${${CERT_DIR}}/${filename}`;

/** Stands for the file among the names of what an environment has. */
export const certificateVariable = (filename: string): string => `${CERT_DIR}/${filename}`;

/** File names that a text refers to, sorted. */
export function certificateReferences(text: string): string[] {
  const names = [...text.matchAll(REFERENCE)].flatMap((match) => match[2] ?? []);
  return [...new Set(names)].sort();
}

/** The file name behind the reference at the beginning of a text; null where there is none. */
export function filenameAfter(text: string): string | null {
  return new RegExp(`^/(${FILENAME})`).exec(text)?.[1] ?? null;
}

/** The text with `folder` in the place of the variable, as an engine would expand it. */
export const withoutCertificates = (text: string, folder: string): string =>
  text.replace(REFERENCE, (found, variable?: string, filename?: string) => {
    if (variable === undefined) return found;
    return filename === undefined ? folder : `${folder}/${filename}`;
  });
