import type { NodeChange } from '@xyflow/react';
import { useRef } from 'react';

interface Size {
  width: number;
  height: number;
}

export interface NodeSizes {
  /** For `measured` of a node that is drawn already. */
  of(id: string): Size | undefined;
  /** For `onNodesChange`. */
  follow(changes: readonly NodeChange[]): void;
}

/**
 * What React Flow has measured of its nodes. A node that comes without is hidden until it is measured again, and loses the
 * focus by that: at each read of what is drawn.
 */
export function useNodeSizes(): NodeSizes {
  const sizes = useRef(new Map<string, Size>());
  return {
    of: (id) => sizes.current.get(id),
    follow(changes) {
      for (const change of changes)
        if (change.type === 'dimensions' && change.dimensions)
          sizes.current.set(change.id, change.dimensions);
    },
  };
}
