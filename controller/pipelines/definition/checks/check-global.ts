/** Refuses global options that a pipeline must not set, because the agent sets them in a second config file. */
import { RESERVED_PREFIX } from '../../../../schemas/agent/limits.ts';
import { pointerTo } from '../../../platform/yaml/pointer.ts';
import { isDefaultDataDir } from '../default-data-dir.ts';
import { type Definition, SECTIONS } from '../definition.ts';
import type { Finding } from './finding.ts';

const REFUSED: Record<string, { why: string; hint: string }> = {
  api: {
    why: 'the agent gives each engine an API at an address of its own',
    hint: 'remove it; samples and live taps of every component are on its page',
  },
  provider: {
    why: 'the engine would load another config from there',
    hint: 'remove it, and describe the components in the manifest',
  },
};
/** Sections with named entries, to which the agent adds its own. */
const NAMED = ['enrichment_tables', 'secret', 'tests'];

export function checkGlobal({ global }: Pick<Definition, 'global'>): Finding[] {
  const finding = (pointer: string, message: string, hint: string): Finding => ({
    level: 'structure',
    pointer,
    message,
    hint,
  });
  return Object.entries(global).flatMap(([name, value]): Finding[] => {
    const pointer = pointerTo('/global', name);
    const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refused) return [finding(pointer, `\`global.${name}\` cannot be set: ${refused.why}`, refused.hint)];
    if ((SECTIONS as readonly string[]).includes(name)) {
      return [
        finding(
          pointer,
          `\`global.${name}\` would be lost, because components have sections of their own`,
          `write it as spec.${name}`,
        ),
      ];
    }
    if (name === 'data_dir' && !isDefaultDataDir(value)) {
      return [
        finding(
          pointer,
          '`global.data_dir` cannot be set: the agent gives each pipeline its own folder, and two pipelines in one folder overwrite the positions of each other',
          'remove it; a source of type file may set its own data_dir',
        ),
      ];
    }
    if (!NAMED.includes(name) || typeof value !== 'object' || value === null) return [];
    return Object.keys(value).flatMap((key) =>
      key.startsWith(RESERVED_PREFIX)
        ? [
            finding(
              pointerTo(pointer, key),
              `the name "${key.slice(0, 100)}" in \`global.${name}\` begins with ${RESERVED_PREFIX}, which the agent's own components use`,
              'choose another name',
            ),
          ]
        : [],
    );
  });
}
