import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { DeployEnvironmentInfo } from '../../../../../schemas/api/pipelines/deployments.ts';
import { queries } from '../../../api/queries/index.ts';
import { labelsOf, problemOfRows } from '../../../ui/form/label-rows.ts';
import { type CanaryRows, type Candidate, NO_CANARY } from './canary-fields.tsx';
import { type CanaryDraft, canaryProblem, splitNodes, windowProblem } from './canary-match.ts';

/** A canary while it is chosen: what is typed, and which nodes that means now. */
export function useCanary(env: string, { matchingNodes }: Pick<DeployEnvironmentInfo, 'matchingNodes'>) {
  const [value, change] = useState<CanaryRows>(NO_CANARY);
  const all = useQuery(queries.nodes(env)).data;
  const nodes = useMemo((): Candidate[] => {
    const ids = new Set(matchingNodes.map(({ id }) => id));
    return (all ?? []).filter(({ id }) => ids.has(id));
  }, [all, matchingNodes]);
  const { rows, ...rest } = value;
  const draft: CanaryDraft = { ...rest, selector: labelsOf(rows) };
  const split = splitNodes(nodes, draft.selector);
  return {
    value,
    change,
    nodes,
    split,
    draft,
    problem: problemOfRows(rows) || canaryProblem(split, draft.selector) || windowProblem(draft.window),
    input: {
      canarySelector: draft.selector,
      healthCheckWindowMinutes: Number(draft.window),
      onPass: draft.onPass,
      onFail: draft.onFail,
    },
  };
}
