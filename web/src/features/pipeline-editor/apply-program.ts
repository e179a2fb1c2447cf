/** Programs that the assistant proposes go into the drawing, where they can be undone and are saved with the rest. */
import type { SuggestedChange } from '../../../../schemas/api/pipelines/conversations.ts';
import { MASK } from '../../../../schemas/pipelines/mask.ts';
import { setConfig } from './model/edits.ts';
import type { EditorGraph } from './model/graph.ts';

interface Drawing {
  graph: EditorGraph;
  change: (change: { word: string; change: (graph: EditorGraph) => EditorGraph }) => void;
}

/**
 * Null for changes of anything but the program of one `remap`, and where credentials are masked in it, which the controller
 * puts back: those are applied to what is saved.
 */
export const applyProgram =
  ({ graph, change }: Drawing) =>
  (changes: readonly SuggestedChange[]): (() => void) | null => {
    const [only, ...others] = changes;
    if (
      only?.type !== 'setVrl' ||
      only.program.includes(MASK) ||
      only.output !== undefined ||
      others.length > 0
    )
      return null;
    const node = graph.nodes.find(({ componentKey }) => componentKey === only.componentKey);
    if (node?.componentType !== 'remap' || node.sharedComponentId !== undefined) return null;
    return () =>
      change({
        word: `Change source of ${node.componentKey}`,
        change: (now) => setConfig(now, node.id, { ...node.config, source: only.program }),
      });
  };
