import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import './rollout.css';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { plural } from '../../../ui/text/format.ts';

interface AskProps {
  pipelineId: string;
  agreed: boolean;
  onChange: (agreed: boolean) => void;
}

/** A deploy ends a rollout that is under way: it asks first. Nothing where there is none. */
export const Supersedes = ({ pipelineId, agreed, onChange }: AskProps) => {
  const rollout = useQuery(queries.activeRollout(pipelineId));
  if (!rollout.data) return null;
  const { canaryVersion, canary } = rollout.data;
  return (
    <Notice icon="warning" tone="held">
      <div className="stack-tight">
        <span>
          Version {canaryVersion} is being tried on {plural(canary.total, 'node')}: its rollout is under way.
        </span>
        <Checkbox
          label="End that rollout: this deploy takes its place"
          checked={agreed}
          onChange={(event) => onChange(event.target.checked)}
        />
      </div>
    </Notice>
  );
};

/** For actions that end it by what they are. `what` begins the sentence. */
export const EndsRollout = ({ pipelineId, what }: { pipelineId: string; what: string }) => {
  const rollout = useQuery(queries.activeRollout(pipelineId));
  if (!rollout.data) return null;
  return (
    <Notice icon="warning" tone="held">
      {what} ends the rollout of version {rollout.data.canaryVersion}, which is under way.
    </Notice>
  );
};
