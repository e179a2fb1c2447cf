/** Where a click on a gate strip's segment leads: to the page that shows why it stands there. */
import { paths } from '../../app/paths.ts';
import type { CauseOf } from './gate-strip.tsx';

/** A pipeline's strip: git's problems are on the git page, the nodes' on the pipeline's own. */
export const pipelineCause =
  (env: string, pipelineId: string): CauseOf =>
  (segment) => {
    if (segment.point === 'git') return paths.pipeline(env, pipelineId, { tab: 'versions' });
    if (segment.point === 'accepted') {
      return paths.pipeline(env, pipelineId, { tab: segment.state === 'done' ? 'versions' : 'config' });
    }
    return paths.pipeline(env, pipelineId, { tab: 'nodes' });
  };

/** An environment's strip: what was read and refused, then the nodes that lag. */
export const environmentCause =
  (env: string): CauseOf =>
  (segment) => {
    if (segment.point === 'git' || segment.point === 'accepted') return paths.git(env);
    if (segment.state === 'done') return paths.pipelines(env);
    return segment.point === 'delivered' ? paths.fleet(env) : paths.pipelines(env, { sort: 'nodes' });
  };

/** A node's strip: what was read and accepted is its environment's, the rest is on its own page. */
export const nodeCause =
  (env: string, nodeId: string): CauseOf =>
  (segment) =>
    segment.point === 'git' || segment.point === 'accepted' ? paths.git(env) : paths.node(env, nodeId);

/** A manifest's strip: its own lines on the git page until it became a pipeline. */
export const manifestCause =
  (env: string, kind: string, path: string, objectId: string | null): CauseOf =>
  (segment) => {
    if (kind === 'Pipeline' && objectId && segment.point !== 'git' && segment.state !== 'failed') {
      return paths.pipeline(env, objectId);
    }
    if (kind === 'Pipeline' && objectId && (segment.point === 'delivered' || segment.point === 'running')) {
      return paths.pipeline(env, objectId, { tab: 'nodes' });
    }
    return paths.git(env, { focus: path });
  };
