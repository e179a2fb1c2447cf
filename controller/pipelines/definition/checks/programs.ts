/** The VRL of a definition. */
import { pointerTo } from '../../../platform/yaml/pointer.ts';
import type { Program } from '../../engine/index.ts';
import type { Component } from '../definition.ts';
import { isVrl } from '../vrl-options.ts';

interface LocatedProgram extends Program {
  pointer: string;
  componentKey: string;
}

/** Every VRL text of the definition, with its JSON pointer. An option may have any shape; the engine reports a wrong one. */
export const programsOf = (components: readonly Component[]): LocatedProgram[] =>
  components.flatMap(({ key, section, type, options }) => {
    const found: LocatedProgram[] = [];
    const visit = (value: unknown, path: readonly string[], parent: unknown): void => {
      if (typeof value === 'string') {
        if (!isVrl(type, path, parent)) return;
        const pointer = path.reduce(pointerTo, `/${section}/${key}`);
        found.push({ source: value, purpose: purposeOf(type, path), pointer, componentKey: key });
      } else if (typeof value === 'object' && value !== null) {
        for (const [name, item] of Object.entries(value)) visit(item, [...path, name], value);
      }
    };
    visit(options, [], undefined);
    return found;
  });

/** All decide by their result but a `remap`, a codec and a value that is computed. */
function purposeOf(type: string, path: readonly string[]): Program['purpose'] {
  const makesEvents = (type === 'remap' && path.length === 1) || path.at(-2) === 'vrl';
  return makesEvents || path.at(-1) === 'value' ? 'program' : 'condition';
}
