import { Link } from 'react-router';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { paths } from '../../app/paths.ts';
import { Commit, Copyable } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CheckLine } from '../promotions/check-line.tsx';
import { ForgeOut } from '../promotions/forge-anchor.tsx';
import { Steps } from '../promotions/steps.tsx';
import { type Landing, stepsOfPull } from './review.ts';

interface Props {
  pull: PullRequest;
  env: string;
  environmentName: string;
  landing: Landing | null;
}

/** Where it stands, whose it is, and what it would do in each environment that follows its base. */
export const Summary = ({ pull, env, environmentName, landing }: Props) => {
  const { author, branch, base, headSha, approvals, requiredApprovals, createdAt, updatedAt, checks, forge } =
    pull;
  const own = checks.find(({ environmentId }) => environmentId === env) ?? null;
  const others = checks.filter(({ environmentId }) => environmentId !== env);
  return (
    <section className="panel stack" aria-label="Summary">
      <Steps steps={stepsOfPull(pull, own, landing)} of={`pull request #${pull.number}`} />
      <ul className="checks" aria-label="Checks">
        <li>
          <span className="check-of">{environmentName}</span>
          <CheckLine check={own} />
        </li>
        {others.map((check) => (
          <li key={check.environmentId}>
            <Link to={paths.pullRequest(check.environmentId, pull.number)} className="check-of">
              {check.environmentName}
            </Link>
            <CheckLine check={check} />
          </li>
        ))}
      </ul>
      <dl className="facts git-facts">
        <Fact name="From">
          <Copyable value={branch} label="branch" />
        </Fact>
        <Fact name="Into">
          <span className="mono">{base}</span>
        </Fact>
        <Fact name="Newest commit">
          <Commit sha={headSha} />
        </Fact>
        <Fact name="By">{author}</Fact>
        <Fact name="Opened">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Updated">
          <Time at={updatedAt} />
        </Fact>
        {forge === 'headgate' ? (
          <Fact name="Approvals">
            <span className="mono">
              {approvals}
              {requiredApprovals > 0 && ` of ${requiredApprovals}`}
            </span>
          </Fact>
        ) : (
          <Fact name="On">
            <ForgeOut pull={pull} />
          </Fact>
        )}
      </dl>
    </section>
  );
};
