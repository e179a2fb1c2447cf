/** What an event is about: links to its node and its pipeline. */
import { Fragment } from 'react';
import { Link } from 'react-router';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { paths } from '../../../app/paths.ts';

type Subject = Pick<AlertEvent, 'environmentId' | 'nodeId' | 'nodeName' | 'pipelineId' | 'pipelineName'>;

export const EventSubject = ({ event }: { event: Subject }) => {
  const { environmentId: env, nodeId, nodeName, pipelineId, pipelineName } = event;
  const links = [
    ...(pipelineId ? [{ to: paths.pipeline(env, pipelineId), word: pipelineName ?? 'a pipeline' }] : []),
    ...(nodeId ? [{ to: paths.node(env, nodeId), word: nodeName ?? 'a node' }] : []),
  ];
  return (
    <>
      {links.map(({ to, word }, index) => (
        <Fragment key={to}>
          {index > 0 && ' on '}
          <Link to={to}>{word}</Link>
        </Fragment>
      ))}
    </>
  );
};
