import { useQuery } from '@tanstack/react-query';
import '../../../styles/rollout.css';
import { useId } from 'react';
import { queries } from '../../../api/queries.ts';
import { plural } from '../../../components/format.ts';
import { Icon } from '../../../components/icons.tsx';

interface AskProps {
  pipelineId: string;
  agreed: boolean;
  onChange: (agreed: boolean) => void;
}

/** A deploy ends a rollout that is under way: it asks first. Nothing where there is none. */
export const Supersedes = ({ pipelineId, agreed, onChange }: AskProps) => {
  const id = useId();
  const rollout = useQuery(queries.activeRollout(pipelineId));
  if (!rollout.data) return null;
  const { canaryVersion, canary } = rollout.data;
  return (
    <div className="notice" data-tone="held">
      <Icon name="warning" size={14} />
      <div className="stack-tight">
        <span>
          Version {canaryVersion} is being tried on {plural(canary.total, 'node')}: its rollout is under way.
        </span>
        <span className="check">
          <input
            type="checkbox"
            id={id}
            checked={agreed}
            onChange={(event) => onChange(event.target.checked)}
          />
          <label htmlFor={id}>End that rollout: this deploy takes its place</label>
        </span>
      </div>
    </div>
  );
};

/** For actions that end it by what they are. `what` begins the sentence. */
export const EndsRollout = ({ pipelineId, what }: { pipelineId: string; what: string }) => {
  const rollout = useQuery(queries.activeRollout(pipelineId));
  if (!rollout.data) return null;
  return (
    <p className="notice" data-tone="held">
      <Icon name="warning" size={14} />
      <span>
        {what} ends the rollout of version {rollout.data.canaryVersion}, which is under way.
      </span>
    </p>
  );
};
