/**
 * How configs refer to a certificate file: `${SVC_CERT_DIR}/<filename>`. The agent writes the files of a pipeline to a folder
 * and sets that variable to it for the engine.
 */
export const CERT_DIR = 'SVC_CERT_DIR';

const FILENAME = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
/** `$$` is a literal dollar, so what follows it is text. The length of a default is limited, so that the search takes linear time. */
const REFERENCE = new RegExp(
  String.raw`\$\$|(\$\{${CERT_DIR}(?::?-[^}]{0,1024})?\}|\$${CERT_DIR}(?![\w.]))(?:/(${FILENAME}))?`,
  'g',
);

/** The reference as it stands in a config. */
export const referenceTo = (filename: string): string => `\${${CERT_DIR}}/${filename}`;

/** The name of the file in `configVariables`. */
export const certificateVariable = (filename: string): string => `${CERT_DIR}/${filename}`;

/** The file names that a text refers to, sorted. */
export function certificateReferences(text: string): string[] {
  const names = [...text.matchAll(REFERENCE)].flatMap((match) => match[2] ?? []);
  return [...new Set(names)].sort();
}

/** The file name behind the reference at the beginning of a text; null where there is none. */
export function filenameAfter(text: string): string | null {
  return new RegExp(`^/(${FILENAME})`).exec(text)?.[1] ?? null;
}

/** The text with `folder` in place of the variable, as an engine expands it. */
export const expandCertificates = (text: string, folder: string): string =>
  text.replace(REFERENCE, (found, variable?: string, filename?: string) => {
    if (variable === undefined) return found;
    return filename === undefined ? folder : `${folder}/${filename}`;
  });
