/** Secrets, certificates and variables: what is named has to exist, and a secret has to be a text. */

import { pointerTo } from '../../../platform/yaml/pointer.ts';
import { CERT_DIR, certificateVariable, filenameAfter } from '../../../secrets/certificates/index.ts';
import { secretReferences, secretVariable } from '../../../secrets/index.ts';
import { type Definition, SECTIONS } from '../definition.ts';
import { eachString } from '../map-strings.ts';
import { isVrl } from '../vrl-options.ts';
import { describeMisplacement, vrlPlaceholders } from '../vrl-placeholders.ts';
import { componentAt, didYouMean, type Finding, MAX_FINDINGS, positionIn } from './finding.ts';

/** `$$` is a dollar; the engine replaces `${…}` and `$name` from its environment before it parses the file. */
const VARIABLE = /\$(?:\$|\{([A-Za-z0-9_.]+)(:?[-?][^}]{0,1024})?\}|([A-Za-z0-9_.]+))/g;
/** Variables in an engine's environment besides secrets. */
const AMBIENT = new Set(['HOSTNAME', 'TZ', 'LANG']);

/** `secrets` also contains the existing certificate files, as named by `certificateVariable`. */
export function checkVariables(definition: Definition, secrets: ReadonlySet<string>): Finding[] {
  const findings: Finding[] = [];
  eachString(
    {
      sources: definition.sources,
      transforms: definition.transforms,
      sinks: definition.sinks,
      global: definition.global,
    },
    '',
    (text, pointer) => {
      for (const match of findings.length < MAX_FINDINGS ? text.matchAll(VARIABLE) : []) {
        if (findings.length >= MAX_FINDINGS) break;
        const name = match[1] ?? match[3];
        if (name === CERT_DIR) {
          const filename = filenameAfter(text.slice(match.index + match[0].length));
          if (filename !== null && secrets.has(certificateVariable(filename))) continue;
          findings.push({
            level: 'secrets',
            pointer,
            ...positionIn(text, match.index),
            ...componentAt(pointer),
            ...explainCertificate(filename, secrets),
          });
          continue;
        }
        if (name === undefined || AMBIENT.has(name) || (match[2] ?? '').replace(/^:/, '').startsWith('-'))
          continue;
        if (secrets.has(name)) continue;
        findings.push({
          level: 'secrets',
          pointer,
          ...positionIn(text, match.index),
          ...componentAt(pointer),
          ...explainVariable(name, match[0], secrets),
        });
      }
    },
  );
  return findings;
}

function explainVariable(
  name: string,
  written: string,
  secrets: ReadonlySet<string>,
): { message: string; hint: string } {
  if (!name.startsWith('SVC_SECRET_')) {
    return {
      message: `"${written}" would be read as an environment variable when the engine loads the config, and none of that name is set`,
      hint: `write "$${written}" for a literal dollar, or \${SVC_SECRET_…} for a secret`,
    };
  }
  const near = didYouMean(name, [...secrets]);
  const variable = secretVariable(name.slice('SVC_SECRET_'.length));
  if (variable !== name) {
    return {
      message: `no secret name leads to the variable ${name}`,
      hint: `variables of secrets have upper case letters, digits and _ only: write \${${variable}}`,
    };
  }
  return {
    message: `the secret behind \${${name}} does not exist in this environment`,
    hint:
      near ||
      `create a secret whose name becomes ${name} (for example "${name.slice('SVC_SECRET_'.length).toLowerCase()}" gives ${secretVariable(name.slice('SVC_SECRET_'.length).toLowerCase())}); the pipeline is applied as soon as it exists`,
  };
}

function explainCertificate(
  filename: string | null,
  known: ReadonlySet<string>,
): { message: string; hint: string } {
  const reference = `\${${CERT_DIR}}/`;
  if (filename === null) {
    return {
      message: `"\${${CERT_DIR}}" names no certificate file`,
      hint: `write the file name after it, for example "${reference}ca.pem"`,
    };
  }
  const files = [...known].flatMap((path) =>
    path.startsWith(`${CERT_DIR}/`) ? path.slice(CERT_DIR.length + 1) : [],
  );
  return {
    message: `the certificate file "${filename}" does not exist in this environment`,
    hint:
      didYouMean(filename, files) ||
      `upload it with certificate.upload and that file name; the pipeline is applied as soon as it exists`,
  };
}

/** A secret must be a text: it cannot be a key, and in VRL it must be inside a string. */
export function checkSecretPositions(definition: Definition): Finding[] {
  const findings: Finding[] = [];
  const visit = (
    type: string,
    path: readonly string[],
    base: string,
    value: unknown,
    parent?: unknown,
  ): void => {
    if (findings.length >= MAX_FINDINGS) return;
    const pointer = path.reduce(pointerTo, base);
    const add = (finding: { message: string; hint: string }, at?: { line: number; column: number }) =>
      findings.push({ level: 'secrets', pointer, ...at, ...componentAt(pointer), ...finding });
    if (typeof value === 'string') {
      if (!value.includes('SVC_SECRET_') || !isVrl(type, path, parent)) return;
      for (const placeholder of vrlPlaceholders(value)) {
        const finding = describeMisplacement(placeholder);
        if (finding) add(finding, positionIn(value, placeholder.start));
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (secretReferences(key).length > 0) {
          add({
            message: `the key "${key.slice(0, 200)}" contains a secret`,
            hint: 'write the key in full, and use secrets in values only',
          });
        }
        visit(type, [...path, key], base, item, value);
      }
    }
  };
  for (const section of SECTIONS) {
    for (const [key, component] of Object.entries(definition[section] as Record<string, { type?: unknown }>))
      visit(String(component.type), [], `/${section}/${key}`, component);
  }
  visit('', [], '/global', definition.global);
  return findings;
}
