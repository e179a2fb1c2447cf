/** Two teams with a provider that answers by script for ours, and a pipeline that was drawn by hand. */
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { drawPipeline, soundGraph } from '../fixtures/graphs.ts';
import type { TestController } from '../harness/controller.ts';
import { use } from '../harness/use.ts';
import { ScriptedProvider } from '../servers/scripted-provider.ts';
import { useTwoTeams } from './two-teams.ts';

export const PROVIDER_KEY = 'sk-the-key-of-the-team';

export function useAssisted(test: TestController) {
  const teams = useTwoTeams(test);
  const provider = use(
    () => ScriptedProvider.start(),
    (one) => one.close(),
  );
  const drawn = use(async () => {
    const { teamId, environmentId } = teams.ours;
    await teams.admin.mutate('ai.updateProvider', {
      ...{ teamId, kind: 'openai', model: 'scripted', baseUrl: provider.openAiUrl, apiKey: PROVIDER_KEY },
      requestsPerUserPerHour: 1_000,
    });
    const { id } = await drawPipeline(teams.editor, environmentId);
    return { pipelineId: id };
  });
  return {
    teams,
    provider,
    drawn,
    /** The config of a component now. */
    async configOf(componentKey: string): Promise<GraphNode['config'] | undefined> {
      const { nodes } = await teams.editor.query<{ nodes: GraphNode[] }>('pipeline.get', {
        id: drawn.pipelineId,
      });
      return nodes.find((node) => node.componentKey === componentKey)?.config;
    },
    /** The drawn pipeline as it was in the beginning. */
    redraw: () =>
      teams.editor.mutate('pipeline.saveGraph', { pipelineId: drawn.pipelineId, ...soundGraph() }),
  };
}

/** A call of the tool. */
export const suggest = (title: string, ...changes: object[]) => ({
  tool: 'suggest_changes',
  input: { title, reason: 'for the test', changes },
});
