/** Checks that `SECRET[backend.key]`, which the engine replaces when it starts, names a defined backend. */
import { didYouMean } from '../../../platform/text/nearest-name.ts';
import type { Definition } from '../definition.ts';
import { eachString } from '../map-strings.ts';
import type { Finding } from './finding.ts';

const REFERENCE = /SECRET\[([\w-]{1,200})\.[\w./-]{1,500}\]/g;
const MAX_FINDINGS = 50;

export function checkSecretBackends(definition: Definition): { findings: Finding[]; warnings: Finding[] } {
  const { secret } = definition.global;
  const backends = typeof secret === 'object' && secret !== null ? Object.keys(secret) : [];
  const findings: Finding[] = [];
  const warnings: Finding[] = [];
  const { sources, transforms, sinks, global } = definition;
  const { secret: _, ...others } = global;
  eachString({ sources, transforms, sinks, global: others }, '', (text, pointer) => {
    for (const [written, backend = ''] of text.matchAll(REFERENCE)) {
      if (findings.length + warnings.length >= MAX_FINDINGS) return;
      const [, section, key] = pointer.split('/');
      const base = {
        level: 'secrets' as const,
        pointer,
        ...(section !== 'global' && key !== undefined && { componentKey: key }),
      };
      if (!backends.includes(backend)) {
        const hint = 'define it in global.secret, or use a secret of the environment';
        findings.push({
          ...base,
          message: `"${written.slice(0, 100)}" names the secret backend "${backend.slice(0, 100)}", which is not defined`,
          hint: didYouMean(backend, backends, hint).replace(/^D/, 'd'),
        });
      } else if (backend.includes('-')) {
        warnings.push({
          ...base,
          message: `"${written.slice(0, 100)}" is not replaced before Vector 0.58, since the name of its backend has a hyphen: the text itself is used`,
          hint: `call the backend ${backend.replaceAll('-', '_').slice(0, 100)}`,
        });
      }
    }
  });
  return { findings, warnings };
}
