import { Link } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { paths } from '../../app/paths.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { sentence } from '../../ui/text/format.ts';
import { environmentCause, manifestCause } from '../gate/gate-cause.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { ObjectName } from '../git/object-name.tsx';
import { type Landing, METHODS } from './review.ts';

interface Props {
  pull: PullRequest;
  status: GitSyncStatus;
  landing: Landing;
}

const WORDS: Record<Landing['tone'], string> = {
  ok: 'Runs',
  calm: 'Runs',
  moving: 'On its way',
  held: 'Held back',
  failed: 'Fails',
  unknown: 'Unknown',
};

/** What became of what was merged: how far the branch has come, and each object that it changed. */
export const Landed = ({ pull, status, landing }: Props) => {
  const { mergeSha, mergeMethod, mergedBy, closedAt } = pull;
  const env = status.environmentId;
  const how = mergeMethod && mergeMethod in METHODS ? ` by ${mergeMethod}` : '';
  return (
    <Section title={landing.title} beside={<Badge tone={landing.tone}>{WORDS[landing.tone]}</Badge>}>
      <div className="section-body stack">
        <p role="status">
          {landing.text} Merged{mergedBy && ` by ${mergedBy}`}
          {how} <Time at={closedAt} />
          {mergeSha && (
            <>
              {' '}
              as <Commit sha={mergeSha} />
            </>
          )}
          .{' '}
          {status.waitingPlan && landing.tone === 'held' && (
            <Link to={paths.git(env, { tab: 'plan' })}>Look at the plan</Link>
          )}
        </p>
        <GateStrip
          gate={status.gate}
          of={status.environmentName}
          causeOf={environmentCause(env)}
          size="large"
        />
      </div>
      {landing.manifests.length > 0 && (
        <ul className="landed" aria-label="What it changed">
          {landing.manifests.map(({ kind, name, path, objectId, gate }) => {
            const stopped = gate.find(({ state }) => state === 'failed' || state === 'held');
            return (
              <li key={`${kind}/${name}`}>
                <ObjectName env={env} kind={kind} name={name} objectId={objectId} />
                <GateStrip gate={gate} of={name} causeOf={manifestCause(env, kind, path, objectId)} />
                {stopped && (
                  <span className="landed-why">
                    <CodeText text={sentence(stopped.reason)} />
                  </span>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
};
