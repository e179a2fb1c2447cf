import { Link } from 'react-router';
import type { PromotionPreflight } from '../../../../../schemas/api/delivery/promotions.ts';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import { paths } from '../../../app/paths.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { EnvironmentTag } from '../../../ui/primitives/environment-tag.tsx';
import type { IconName } from '../../../ui/primitives/icons.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { sentence } from '../../../ui/text/format.ts';
import { HEALTH } from './promote-text.ts';

interface Props {
  target: EnvironmentSummary;
  preflight: PromotionPreflight;
}

/** What stands in the way, and what one should know although nothing does. */
export const PromoteFindings = ({ target, preflight }: Props) => {
  const { sourceHealth, blockers, missingSecrets, nameCollision, waiting, notes } = preflight;
  const health = HEALTH[sourceHealth.state];
  return (
    <section className="deploy-part" aria-label="Before it goes">
      <header className="deploy-part-head">
        <h3>{preflight.canProceed ? 'Nothing stands in the way' : 'It cannot be promoted yet'}</h3>
        <EnvironmentTag environment={target} />
      </header>
      <ul className="findings" aria-label="Findings">
        {blockers.map((text) => (
          <Finding key={text} tone="failed" icon="cross">
            {sentence(text)}
          </Finding>
        ))}
        {nameCollision && (
          <Finding
            tone={nameCollision.kind === 'taken' ? 'failed' : 'moving'}
            icon={nameCollision.kind === 'taken' ? 'cross' : 'pipelines'}
          >
            {sentence(nameCollision.message)}{' '}
            {nameCollision.pipelineId && (
              <Link to={paths.pipeline(target.id, nameCollision.pipelineId)} className="notice-link">
                Look at {nameCollision.name} in {target.name}
              </Link>
            )}
          </Finding>
        )}
        {missingSecrets.length > 0 && (
          <Finding tone={preflight.outcome === 'DEPLOYED' ? 'failed' : 'held'} icon="secrets">
            {target.name} lacks{' '}
            {missingSecrets.length === 1 ? 'a secret that it names' : 'secrets that it names'}:{' '}
            <span className="mono">{missingSecrets.join(', ')}</span>.{' '}
            <Link to={paths.secrets(target.id, { new: '1' })} className="notice-link">
              Add {missingSecrets.length === 1 ? 'it' : 'them'} to {target.name}
            </Link>
          </Finding>
        )}
        {waiting && (
          <Finding tone="held" icon="held">
            A promotion of it waits already
            {waiting.pullRequest ? (
              <>
                {': this one goes on with '}
                <Link
                  to={paths.pullRequest(target.id, waiting.pullRequest.number)}
                  className="notice-link"
                  data-tip={waiting.pullRequest.check?.summary}
                >
                  pull request #{waiting.pullRequest.number}
                </Link>
                .
              </>
            ) : (
              ': this one goes on with it.'
            )}
          </Finding>
        )}
        {notes.map((text) => (
          <li key={text}>{sentence(text)}</li>
        ))}
        <li className="finding">
          <span className="muted">Where it runs now:</span> <Badge tone={health.tone}>{health.word}</Badge>{' '}
          <span>{sentence(sourceHealth.message)}</span>
        </li>
      </ul>
    </section>
  );
};

interface FindingProps {
  tone: Tone;
  icon: IconName;
  children: React.ReactNode;
}

const Finding = ({ tone, icon, children }: FindingProps) => (
  <li>
    <Notice icon={icon} tone={tone}>
      {children}
    </Notice>
  </li>
);
