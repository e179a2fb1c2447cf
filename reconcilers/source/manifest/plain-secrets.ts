/**
 * Secrets that stand in a manifest as plain text. They are rejected and never quoted: readers of the message need
 * not have the right to read the repository.
 */
import { pointerTo } from '../../../controller/platform/yaml/pointer.ts';
import type { SpecFinding } from './resolve-spec.ts';

const SECRET_KEY =
  /(?:^|_)(?:password|passwd|passphrase|pwd|tokens?|secret|secrets|api_?key|access_?key|access_key_id|secret_key|private_key|encryption_key|license_key|auth_key|account_key|shared_key|key_pass|client_secret|connection_string|credentials|authorization)$/;
/** What such a field may hold beside a secret: the name of a scheme, or a switch. */
const HARMLESS = /^(?:basic|bearer|aws|none|null|true|false)$/i;
const USER_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i;
/** `${NAME}`, `$NAME`, `SECRET[backend.key]`, and a `{{ field }}` of the event. */
const PLACEHOLDER = /\$\{[^}]+\}|\$[A-Za-z_]|SECRET\[[^\]]+\]|\{\{[^}]+\}\}/;
const WITH_DEFAULT = /\$\{(?<name>[A-Za-z_][\w.]*):?-(?<text>[^}]+)\}/g;
const SECTIONS = ['sources', 'transforms', 'sinks', 'global', 'values'] as const;
const MAX_FINDINGS = 20;
/** `/sinks/token` is a component of that name, no field; values are looked at like fields. */
const FREE_NAMES = 2;

const known = new Map<string, boolean>();

/** Manifests use the same few hundred field names over and over. */
function isSecretKey(key: string): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const plain = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
  const secret = SECRET_KEY.test(plain);
  if (known.size > 5000) known.clear();
  known.set(key, secret);
  return secret;
}

function isPlain(text: string): boolean {
  if (text === '' || HARMLESS.test(text)) return false;
  return !PLACEHOLDER.test(text) || plainDefault(text) !== null;
}

/** The name of a placeholder whose default says something. */
function plainDefault(text: string): string | null {
  for (const { groups } of text.matchAll(WITH_DEFAULT))
    if (groups?.name !== undefined && !HARMLESS.test(groups.text ?? '')) return groups.name;
  return null;
}

/** What is wrong, and what to do; nothing of the text but a name of a placeholder. */
function findingOf(field: string, text: string): Pick<SpecFinding, 'message' | 'hint'> {
  const name = plainDefault(text);
  const shown = `\`${field.slice(0, 100)}\``;
  if (name === null)
    return {
      message: `${shown} holds a plain secret; secrets do not belong in git`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written in a manifest
      hint: 'Create a secret in the environment and write its placeholder here, for example "${SVC_SECRET_NAME}". Treat this one as leaked and replace it.',
    };
  return {
    message: `${shown} has a default for \${${name.slice(0, 100)}} that stands in git as plain text`,
    hint: name.startsWith('SVC_SECRET_')
      ? 'Leave the default out: a secret that is missing refuses the manifest. If it was a real secret, treat it as leaked and replace it.'
      : // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written in a manifest
        'A secret is written by its variable: db-pw is "${SVC_SECRET_DB_PW}". What follows a - in a placeholder is a default.',
  };
}

/** Whether a field of this name holds a secret as plain text. */
export const holdsPlainSecret = (field: string, text: string): boolean => isSecretKey(field) && isPlain(text);

/** Names under `route` are chosen by people and their values are conditions. */
function isChosenByPeople(path: readonly (string | number)[]): boolean {
  return path.length === 3 && path[0] === 'transforms' && path[2] === 'route';
}

/** The places of plain secrets in a resolved spec of a Pipeline. */
export function plainSecrets(spec: Readonly<Record<string, unknown>>): SpecFinding[] {
  const findings: SpecFinding[] = [];
  const path: (string | number)[] = [];
  const report = (field: string, text: string) => {
    if (findings.length >= MAX_FINDINGS) return;
    findings.push({
      pointer: path.reduce<string>(pointerTo, ''),
      stage: 'secrets',
      ...findingOf(field, text),
    });
  };
  const look = (node: unknown, field: string, secretish: boolean): void => {
    if (typeof node === 'string') {
      const inUrl = secretish || !node.includes('://') ? undefined : USER_IN_URL.exec(node)?.[1];
      if (secretish ? isPlain(node) : inUrl !== undefined && isPlain(inUrl)) report(field, node);
    } else if (typeof node === 'number') {
      if (secretish) report(field, '');
    } else if (Array.isArray(node)) {
      for (const [index, item] of node.entries()) {
        path.push(index);
        look(item, field, secretish);
        path.pop();
      }
    } else if (typeof node === 'object' && node !== null) {
      const free = isChosenByPeople(path);
      for (const [name, value] of Object.entries(node)) {
        path.push(name);
        look(value, name, !free && (path.length > FREE_NAMES || path[0] === 'values') && isSecretKey(name));
        path.pop();
      }
    }
  };
  for (const section of SECTIONS) {
    path.push(section);
    look(spec[section], section, false);
    path.pop();
  }
  return findings;
}
