import { useState } from 'react';
import { Link } from 'react-router';
import type { Drift } from '../../../../../schemas/api/delivery/git-words.ts';
import { paths } from '../../../app/paths.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { plural } from '../../../ui/text/format.ts';
import { NODE_STATES } from '../git-state-labels.ts';

interface Props {
  nodes: NonNullable<Drift['nodes']>;
  env: string;
  of: string;
}

/** How many run what they should, and those that do not, each with what it runs instead. */
export const DriftNodes = ({ nodes: { total, same, differing }, env, of }: Props) => {
  const [opened, setOpened] = useState(false);
  const others = total - same;
  return (
    <>
      <span className="drift-count">
        <span className="mono">
          {same}/{total}
        </span>{' '}
        {total === 0 ? 'no node is to run it' : 'run what they should'}
        {differing.length > 0 && (
          <button
            type="button"
            className="unfold"
            aria-expanded={opened}
            aria-label={`Nodes of ${of} that differ`}
            onClick={() => setOpened(!opened)}
          >
            <Icon name="chevronRight" size={14} />
          </button>
        )}
      </span>
      {opened && (
        <ul className="drift-nodes" aria-label={`Nodes of ${of} that differ`}>
          {differing.map(({ nodeId, host, state, checksum, expected, version, heardAt }) => (
            <li key={nodeId}>
              <Badge tone={NODE_STATES[state].tone} tip={NODE_STATES[state].means}>
                {NODE_STATES[state].word}
              </Badge>
              <Link to={paths.node(env, nodeId)}>{host}</Link>
              <span
                className="mono muted"
                data-tip={`runs ${checksum ?? 'nothing'}, should ${expected ?? 'run nothing'}`}
              >
                {version !== null && `v${version} `}
                {checksum?.slice(0, 8) ?? 'nothing'} ≠ {expected?.slice(0, 8) ?? 'nothing'}
              </span>
              <span className="muted">
                heard <Time at={heardAt} />
              </span>
            </li>
          ))}
          {others > differing.length && (
            <li className="muted">and {plural(others - differing.length, 'more node')}</li>
          )}
        </ul>
      )}
    </>
  );
};
