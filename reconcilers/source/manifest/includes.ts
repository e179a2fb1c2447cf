/** `{ $file: relative/path }`: which file is meant, whether it may be read, and what its content stands for. */

import { didYouMean } from '../../../controller/platform/text/nearest-name.ts';
import { printable } from '../../../controller/platform/yaml/position.ts';
import type { Finding } from '../finding.ts';
import type { Lookup } from '../git/tree-reader.ts';
import type { SnapshotScope } from '../types.ts';
import { decodeText } from '../yaml/decode-text.ts';
import { MAX_FILE_BYTES, parseYamlText } from '../yaml/yaml-file.ts';

export const MAX_INCLUDED_BYTES = 8 * 1024 * 1024;
const MAX_PATH = 1024;
const MAX_FIXTURE_DEPTH = 100;

type Refused = Omit<Finding, 'line' | 'column'>;

function refused(message: string, hint: string): Refused {
  return { stage: 'references', message, hint };
}

/** Whether a path lies in a folder; both relative to the root, `''` being the root. */
function within(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

/** The path from the root of the repository that a `$file` of the manifest at `manifestPath` names. */
export function includePath(reference: object, manifestPath: string, scope: SnapshotScope): string | Refused {
  const written: unknown = (reference as { $file?: unknown }).$file;
  if (Object.keys(reference).length !== 1) {
    return refused('$file stands beside other fields', 'An object with $file has no other field.');
  }
  if (typeof written !== 'string' || written === '' || written.length > MAX_PATH) {
    return refused(
      '$file must be a relative path',
      'Write for example { $file: ../../shared/vrl/parse.vrl }.',
    );
  }
  if (
    /[\x00-\x1f\x7f\\]/.test(written) ||
    written.startsWith('/') ||
    /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(written)
  ) {
    return refused(
      `$file: ${printable(written)} is not a relative path`,
      'Use a path relative to this manifest, with / between the folders.',
    );
  }
  const segments = manifestPath.split('/').slice(0, -1);
  for (const segment of written.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) {
      return refused(`$file: ${written} leads out of the repository`, 'Use fewer ../ steps.');
    }
  }
  const path = segments.join('/');
  const allowed = [scope.path, ...scope.sharedPaths];
  if (allowed.some((folder) => within(path, folder))) return path;
  return refused(
    `$file: ${written} is ${printable(path)} from the root of the repository, and lies outside of the folders that this environment may read`,
    `It may read ${foldersOf(scope)}. Move the file there, or let an ADMIN add its folder to the shared paths of the binding.`,
  );
}

const foldersOf = ({ path, sharedPaths }: SnapshotScope): string =>
  [path, ...sharedPaths].map((folder) => (folder === '' ? 'the whole repository' : `${folder}/`)).join(', ');

/** The blob at a path, or why there is none to read. */
export function includedBlob(path: string, lookup: Lookup, scope: SnapshotScope): { oid: string } | Refused {
  switch (lookup.found) {
    case 'file':
      return { oid: lookup.oid };
    case 'folder':
      return refused(`$file: ${path} is a folder`, 'Name a file in it.');
    case 'link':
      return refused(
        `$file: ${path} is, or leads through, a symbolic link`,
        'Links are never followed: name the file itself.',
      );
    case 'submodule':
      return refused(
        `$file: ${path} lies in a git submodule`,
        'Submodules are not read: put the file into this repository.',
      );
    case 'nothing': {
      const names = lookup.siblings.map((entry) => printable(entry.name));
      const otherwise = `There is no \`${lookup.missing}\` in ${lookup.folder === '' ? 'the root of the repository' : lookup.folder}.`;
      return refused(
        `$file: ${path} does not exist (from the root of the repository)`,
        `${didYouMean(lookup.missing, names, otherwise)} A $file is relative to its manifest, and may lie in ${foldersOf(scope)}.`,
      );
    }
  }
}

export function tooLargeToInclude(path: string): Refused {
  return refused(
    `$file: ${path} is larger than ${MAX_FILE_BYTES} bytes or not in the repository here`,
    'Split the file.',
  );
}

function depthOf(value: unknown, left: number): boolean {
  if (left < 0) return false;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key !== '__proto__' && depthOf(inner, left - 1));
}

export type Included = { value: unknown } | { refused: Finding };

/** The content of an included file: its text, or for a fixture of a test the value that its name promises. */
export function includedValue(path: string, bytes: Uint8Array, asFixture: boolean): Included {
  const decoded = decodeText(bytes);
  if (typeof decoded !== 'string') return { refused: decoded };
  if (asFixture && /\.json$/i.test(path)) return jsonValue(decoded);
  if (asFixture && /\.ya?ml$/i.test(path)) {
    const { documents, finding } = parseYamlText(decoded);
    const [document, second] = documents;
    const found = finding ?? document?.findings[0];
    if (found) return { refused: found };
    if (!second) return { value: document?.value ?? null };
    const message = 'an included file holds one document';
    return {
      refused: { stage: 'references', message, hint: 'Split it.', line: second.line, column: second.column },
    };
  }
  // A checkout that changed line endings must not look like a change.
  return { value: decoded.replaceAll('\r\n', '\n') };
}

function jsonValue(text: string): Included {
  try {
    const value: unknown = JSON.parse(text);
    if (depthOf(value, MAX_FIXTURE_DEPTH)) return { value };
  } catch {
    return {
      refused: {
        stage: 'references',
        message: 'this is not JSON',
        hint: 'Check the file with a JSON formatter.',
        line: 1,
        column: 1,
      },
    };
  }
  const message = `the JSON is nested more than ${MAX_FIXTURE_DEPTH} deep or holds the key __proto__`;
  return { refused: { stage: 'references', message, hint: 'Simplify it.', line: 1, column: 1 } };
}
