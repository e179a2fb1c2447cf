import { Link } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/git-sync.ts';
import type { PullRequest } from '../../../../schemas/api/pull-requests.ts';
import { paths } from '../../app/paths.ts';
import { Badge, Commit, Time } from '../../components/bits.tsx';
import { environmentCause, manifestCause } from '../../components/causes.ts';
import { CodeText } from '../../components/code-text.tsx';
import { sentence } from '../../components/format.ts';
import { GateStrip } from '../../components/gate-strip.tsx';
import { Section } from '../../components/page.tsx';
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
