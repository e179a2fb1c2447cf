import { NativeSelect } from '@mantine/core';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { useAddressParam } from '../../../app/search-params.ts';

/** What a node is in besides its health, in the address. */
const STATES: readonly { value: string; word: string; is: (node: NodeSummary) => boolean }[] = [
  { value: 'maintenance', word: 'In maintenance', is: ({ maintenance }) => maintenance },
  { value: 'updating', word: 'Update under way', is: ({ updateTo }) => updateTo !== null },
  { value: 'revoked', word: 'Revoked', is: ({ revoked }) => revoked },
  { value: 'waiting', word: 'Waits for its agent', is: ({ enrolledAt }) => enrolledAt === null },
  { value: 'container', word: 'In a container', is: ({ deploymentMode }) => deploymentMode === 'DOCKER' },
  { value: 'dev', word: 'Channel dev', is: ({ channel }) => channel === 'dev' },
];

/** In the address, for nodes that have not said it. */
const UNKNOWN = 'unknown';

/** The nodes that the filters of the address leave, and the filters. */
export function useNodeFilters(nodes: readonly NodeSummary[]): {
  shown: readonly NodeSummary[];
  filters: ReturnType<typeof Filters>;
} {
  const [state, setState] = useAddressParam('state');
  const [agent, setAgent] = useAddressParam('agent');
  const isIn = STATES.find(({ value }) => value === state)?.is;
  const shown =
    isIn || agent
      ? nodes.filter((node) => (!isIn || isIn(node)) && (!agent || (node.agentVersion ?? UNKNOWN) === agent))
      : nodes;
  return { shown, filters: <Filters {...{ nodes, state, setState, agent, setAgent }} /> };
}

interface Props {
  nodes: readonly NodeSummary[];
  state: string;
  setState: (value: string) => void;
  agent: string;
  setAgent: (value: string) => void;
}

const Filters = ({ nodes, state, setState, agent, setAgent }: Props) => {
  const versions = [...new Set(nodes.map(({ agentVersion }) => agentVersion ?? UNKNOWN))].sort((a, b) =>
    b.localeCompare(a, undefined, { numeric: true }),
  );
  return (
    <>
      <NativeSelect aria-label="State" value={state} onChange={(event) => setState(event.target.value)}>
        <option value="">Any state</option>
        {STATES.map(({ value, word }) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </NativeSelect>
      <NativeSelect
        aria-label="Agent version"
        value={agent}
        onChange={(event) => setAgent(event.target.value)}
      >
        <option value="">Any agent</option>
        {versions.map((version) => (
          <option key={version} value={version}>
            {version === UNKNOWN ? 'Unknown version' : `Agent ${version}`}
          </option>
        ))}
        {agent && !versions.includes(agent) && <option value={agent}>{`Agent ${agent}: none now`}</option>}
      </NativeSelect>
    </>
  );
};
