/** The entries of a tree object of git, and the rule for names that a manifest may stand under. */
export interface TreeEntry {
  /** As git holds it, decoded; see `nameFault` before using it in a path. */
  name: string;
  kind: 'folder' | 'file' | 'link' | 'submodule';
  oid: string;
}

/** An object of a tree is a file unless its mode says otherwise. */
export function kindOf(mode: string): TreeEntry['kind'] {
  if (mode === '40000' || mode === '040000') return 'folder';
  if (mode === '120000') return 'link';
  if (mode === '160000') return 'submodule';
  return 'file';
}

const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?$/i;

const ORDINARY = /^\w[\w.-]*[\w-]$/;

/** Why nothing may be read under this name; null for a fine one. Such names attack or break a checkout. */
export function nameFault(name: string): string | null {
  if (name.length < 100 && ORDINARY.test(name) && !RESERVED_ON_WINDOWS.test(name)) return null;
  if (name === '' || name === '.' || name === '..') return 'is a path of its own';
  if (/^(?:\.git|git~\d+)[ .]*$/i.test(name)) return "is the name of git's own folder";
  if (/[/\\]/.test(name)) return 'holds a slash or a backslash';
  if (/[\x00-\x1f\x7f-\x9f]/.test(name)) return 'holds a control character';
  if (name.includes('\ufffd')) return 'is not UTF-8';
  if (Buffer.byteLength(name) > 255) return 'is longer than 255 bytes';
  if (/[ .]$/.test(name)) return 'ends with a dot or a space';
  if (RESERVED_ON_WINDOWS.test(name)) return 'is reserved on Windows';
  return null;
}

export function isYaml(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** Would be taken for a manifest by its name on a system that drops what Windows drops. */
export function looksLikeYaml(name: string): boolean {
  return name.endsWith('.yaml') || /\.ya?ml[ .]*$/i.test(name);
}

/** Two paths with equal keys are one path where case or Unicode form do not count. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
