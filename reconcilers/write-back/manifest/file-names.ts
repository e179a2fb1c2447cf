/** Names of files for objects: safe on every system, and no two alike whatever the case. */
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';

export const FOLDERS: Record<OwnableKind, string> = {
  Pipeline: 'pipelines',
  AlertRule: 'alerts',
  NodeGroup: 'node-groups',
  Silence: 'silences',
  WebhookEndpoint: 'webhook-endpoints',
};

const MAX = 80;
/** Devices, to Windows. */
const TAKEN = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** Letters, digits, `-` and `_`; never empty. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-zA-Z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX)
    .replace(/-+$/, '');
  if (plain === '') return 'unnamed';
  return TAKEN.test(plain) ? `${plain}-file` : plain;
}

/** `taken` holds paths in lower case, and learns the new one. */
export function uniquePath(folder: string, name: string, taken: Set<string>): string {
  const slug = slugOf(name);
  for (let number = 1; ; number += 1) {
    const path = `${folder}/${slug}${number === 1 ? '' : `-${number}`}.yaml`;
    if (taken.has(path.toLowerCase())) continue;
    taken.add(path.toLowerCase());
    return path;
  }
}
