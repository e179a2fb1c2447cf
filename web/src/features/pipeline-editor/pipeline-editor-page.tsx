/** The graph editor of one pipeline, on its own address. */
import { useQuery } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import { useParams } from 'react-router';
import { queries } from '../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import './graph-editor.css';
import { GraphEditor } from './graph-editor.tsx';

export const PipelineEditorPage = () => {
  const { pipelineId = '' } = useParams();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  return (
    <Loaded
      query={pipeline}
      what="This pipeline"
      skeleton={
        <div className="page">
          <SkeletonBlock height={32} label="Loading the pipeline" />
          <SkeletonBlock height="70vh" label="Loading the editor" />
        </div>
      }
    >
      {(data) => (
        <ReactFlowProvider key={pipelineId}>
          <GraphEditor pipeline={data} />
        </ReactFlowProvider>
      )}
    </Loaded>
  );
};
