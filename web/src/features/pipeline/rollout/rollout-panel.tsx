import './rollout.css';
import { useState } from 'react';
import type { Rollout } from '../../../../../schemas/api/delivery/rollouts.ts';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Badge, TONE_ICON } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Commit } from '../../../ui/primitives/copyable.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { sentence } from '../../../ui/text/format.ts';
import { type Decision, DecisionDialog } from './decision-dialog.tsx';
import { Figures } from './rollout-figures.tsx';
import { RolloutNodes } from './rollout-nodes.tsx';
import { rolloutBadge, stagesOf, windowOf } from './rollout-text.ts';

interface Props {
  env: string;
  pipeline: Pipeline;
  rollout: Rollout;
}

/** A version on its way through the fleet: how far it is, how it does, and the two ways to end it. */
export const RolloutPanel = ({ env, pipeline, rollout }: Props) => {
  const { team } = usePlace();
  const [decision, setDecision] = useState<Decision | null>(null);
  const mayNot = whyNot(team.role, 'EDITOR');
  const { tone, word } = rolloutBadge(rollout);
  const button = (kind: Decision, text: string, primary: boolean) => (
    <Button
      icon={kind === 'broaden' ? 'deploy' : 'undo'}
      size="small"
      kind={primary ? 'primary' : undefined}
      disabled={mayNot !== null}
      tip={mayNot ?? undefined}
      onClick={() => setDecision(kind)}
    >
      {text}
    </Button>
  );
  return (
    <Section
      title={`Rollout of version ${rollout.canaryVersion}`}
      beside={
        <span className="rollout-head">
          <Badge tone={tone}>{word}</Badge>
          {button('broaden', 'Broaden to all nodes', rollout.heldReason !== null)}
          {button('rollback', 'Roll back', false)}
        </span>
      }
    >
      <div className="section-body stack">
        <Stages rollout={rollout} />
        {rollout.heldReason !== null && (
          <Notice icon="held" tone="held" role="status">
            {sentence(rollout.heldReason)} Broaden it, or roll it back.
          </Notice>
        )}
        <p className="rollout-line">
          {rollout.commit ? <Commit sha={rollout.commit} /> : null}
          {rollout.changelog && <span>{rollout.changelog}</span>}
          <span className="muted">
            {rollout.createdBy}, <Time at={rollout.createdAt} />
          </span>
          <span>
            <span className="muted">canary </span>
            <Labels labels={rollout.canarySelector} />
          </span>
        </p>
        <div className="rollout-parts">
          <Figures verdict={rollout.verdict} />
          <RolloutNodes env={env} nodes={rollout.nodes} />
        </div>
      </div>
      {decision && (
        <DecisionDialog
          decision={decision}
          pipeline={pipeline}
          rollout={rollout}
          close={() => setDecision(null)}
        />
      )}
    </Section>
  );
};

const Stages = ({ rollout }: Pick<Props, 'rollout'>) => {
  const now = useNow();
  const { share, words } = windowOf(rollout, now);
  return (
    <ol className="stages" aria-label="Stages of the rollout">
      {stagesOf(rollout, now).map(({ key, title, tone, words: text }) => (
        <li key={key} className="stage" data-tone={tone}>
          <span className="stage-title">
            <Icon name={TONE_ICON[tone]} size={12} /> {title}
          </span>
          <span>{text}</span>
          {key === 'watching' && rollout.healthEndsAt && (
            <span
              className="meter-bar"
              role="progressbar"
              aria-label="Of the window"
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={Math.round(share * 100)}
              aria-valuetext={words}
            >
              <span className="meter-fill" style={{ width: `${share * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
};
