/** Saving the drawing, and what became of it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, describeFailure } from '../../api/client.ts';
import { useBecameGit } from '../ownership/git-edits.tsx';
import { type EditorGraph, sentGraph } from './model/graph.ts';

export interface Saved {
  graph: EditorGraph;
  revision: number;
  /** It differs from what is deployed. */
  deployable: boolean;
}

interface Options {
  saved: (saved: Saved) => void;
  /** This drawing went to git: what the server has is as it was. */
  sentToGit: (graph: EditorGraph) => void;
}

export interface Saving {
  pending: boolean;
  /** Null for a conflict, which has its dialog. */
  error: unknown;
  conflict: boolean;
  closeConflict: () => void;
  /** `revision` is the server's that it takes the place of. Resolves to whether it was saved. */
  save: (graph: EditorGraph, revision: number) => Promise<boolean>;
}

export function useSave(pipelineId: string, { saved: onSaved, sentToGit }: Options): Saving {
  const queryClient = useQueryClient();
  const became = useBecameGit();
  const [conflict, setConflict] = useState(false);
  const mutation = useMutation({
    mutationFn: async ({
      graph,
      revision,
    }: {
      graph: EditorGraph;
      revision: number;
    }): Promise<Saved | null> => {
      const input = { pipelineId, ...sentGraph(graph), graphRevision: revision };
      const saved = await api.pipeline.saveGraph.mutate(input);
      if (became(saved) || !('graphRevision' in saved)) return null;
      return { graph, revision: saved.graphRevision, deployable: saved.hasConfigChanges };
    },
    onSuccess: (saved, { graph }) => {
      setConflict(false);
      if (saved) onSaved(saved);
      else sentToGit(graph);
      void queryClient.invalidateQueries({ queryKey: ['pipeline.get', pipelineId] });
      void queryClient.invalidateQueries({ queryKey: ['deploy.preview', pipelineId] });
    },
    onError: (error) => {
      if (describeFailure(error).code === 'CONFLICT') setConflict(true);
    },
  });
  const isConflict = mutation.isError && describeFailure(mutation.error).code === 'CONFLICT';
  return {
    pending: mutation.isPending,
    error: mutation.isError && !isConflict ? mutation.error : null,
    conflict,
    closeConflict: () => setConflict(false),
    save: (graph, revision) =>
      mutation.mutateAsync({ graph, revision }).then(
        () => true,
        () => false,
      ),
  };
}
