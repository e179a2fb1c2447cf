import '../../../styles/rollout.css';
import { useState } from 'react';
import type { Pipeline } from '../../../../../schemas/api/pipelines.ts';
import type { Rollout } from '../../../../../schemas/api/rollouts.ts';
import { usePlace } from '../../../app/environment.tsx';
import { Badge, Commit, Labels, Time, TONE_ICON } from '../../../components/bits.tsx';
import { sentence } from '../../../components/format.ts';
import { Icon } from '../../../components/icons.tsx';
import { useNow } from '../../../components/now.ts';
import { Section } from '../../../components/page.tsx';
import { whyNot } from '../../fleet/may.ts';
import { type Decision, DecisionDialog } from './decision-dialog.tsx';
import { Figures } from './rollout-figures.tsx';
import { RolloutNodes } from './rollout-nodes.tsx';
import { stagesOf, standingOf, windowOf } from './rollout-words.ts';

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
  const { tone, word } = standingOf(rollout);
  const button = (kind: Decision, text: string, primary: boolean) => (
    <button
      type="button"
      className="button"
      data-size="small"
      data-kind={primary ? 'primary' : undefined}
      disabled={mayNot !== null}
      data-tip={mayNot ?? undefined}
      onClick={() => setDecision(kind)}
    >
      <Icon name={kind === 'broaden' ? 'deploy' : 'undo'} size={14} /> {text}
    </button>
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
          <p className="notice" data-tone="held" role="status">
            <Icon name="held" size={14} />
            <span>{sentence(rollout.heldReason)} Broaden it, or roll it back.</span>
          </p>
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
