/** What is wrong with a node as a whole. */
import { Link } from 'react-router';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { paths } from '../../app/paths.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Time } from '../../ui/primitives/time.tsx';

export const NodeBanner = ({ env, node }: { env: string; node: FleetNode }) => {
  if (node.revoked) return <Revoked env={env} node={node} />;
  if (node.archivedAt !== null) return <Archived env={env} node={node} />;
  if (node.enrolledAt === null) return <Waiting env={env} node={node} />;
  if (node.status === 'UNREACHABLE') return <Unheard node={node} />;
  return node.engineProblem === null ? null : (
    <Banner tone="held" title="The engine of this node is not supported">
      <p>{node.engineProblem}.</p>
    </Banner>
  );
};

const Revoked = ({ env, node }: { env: string; node: FleetNode }) => (
  <Banner tone="failed" title="The token of this node was revoked">
    <p>
      Its agent is refused: it gets no config and no secrets, and what is shown below is what it said last.
      Its engines run on until the agent is stopped on the machine {node.host}.
    </p>
    <p>
      To bring the machine back: make a token by{' '}
      <Link to={paths.fleet(env, { new: 'enroll' })}>Enroll a node</Link>, delete <code>node-token</code> in
      the agent’s data directory, and start the agent with the new <code>SVC_TOKEN</code>. It comes as a new
      node; then delete this one.
    </p>
  </Banner>
);

const Archived = ({ env, node }: { env: string; node: FleetNode }) => (
  <Banner
    tone="held"
    title={
      <>
        Archived since <Time at={node.archivedAt} />
      </>
    }
  >
    <p>
      Its agent has not called for longer than the{' '}
      <Link to={paths.settings(env, { tab: 'environment' })}>environment’s settings</Link> allow. It does not
      count against the limit of nodes, and nothing waits for it. What it said last is shown below.
    </p>
    <p>It comes back by itself when its agent calls again. If the machine is gone for good, delete it.</p>
  </Banner>
);

const Waiting = ({ env, node }: { env: string; node: FleetNode }) => (
  <Banner tone="moving" title={`Waits for an agent from ${node.host}`}>
    <p>
      It was made by hand. The first agent that enrolls from that host takes it over, with its name and the
      labels that are set here. Make a token by{' '}
      <Link to={paths.fleet(env, { new: 'enroll' })}>Enroll a node</Link>
      {node.apiPort === null ? '.' : `. Port of its agent, as noted: ${node.apiPort}.`}
    </p>
  </Banner>
);

/** An agent that is silent says nothing about its engines. */
const Unheard = ({ node }: { node: FleetNode }) => (
  <Banner
    tone="failed"
    title={
      <>
        Last heard <Time at={node.lastHeartbeatAt} />
      </>
    }
  >
    <p>
      What it ran then is shown below. Its engines may well run on: they do so without the agent’s reports,
      and the agent without the controller.
    </p>
    <p>
      On the machine {node.host}, look whether <code>headgate-agent</code> runs and reaches{' '}
      <code>{window.location.origin}</code>; its own log says what fails.
    </p>
  </Banner>
);
