/** The engine config of what is drawn, and what the checks say of it. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../../api/client.ts';
import { contentOf, type EditorGraph, sentGraph } from '../model/graph.ts';

export type RenderedGraph = Awaited<ReturnType<typeof api.pipeline.renderGraph.mutate>>;

export interface Rendered {
  /** Of the last drawing that was asked about; null before the first answer. */
  result: RenderedGraph | null;
  /** A newer drawing is being asked about. */
  pending: boolean;
  error: unknown;
}

/** After the last change, so that a word that is typed is asked about once. */
const REST_MS = 400;

/** The last drawing wins: the answer to an older one is not waited for. Asks nothing while it is not `enabled`. */
export function useRendered(
  pipelineId: string,
  graph: EditorGraph,
  enabled: boolean,
): Rendered & { retry: () => void } {
  const [state, setState] = useState<Rendered>({ result: null, pending: enabled, error: null });
  const [tries, setTries] = useState(0);
  const content = useMemo(() => contentOf(graph), [graph]);
  const current = useRef(graph);
  current.current = graph;
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the config is made of is in `content`; `tries` asks again.
  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    setState((before) => ({ ...before, pending: true }));
    const ask = async (): Promise<void> => {
      try {
        const input = { pipelineId, ...sentGraph(current.current) };
        const result = await api.pipeline.renderGraph.mutate(input, { signal: abort.signal });
        if (!abort.signal.aborted) setState({ result, pending: false, error: null });
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, pending: false, error }));
      }
    };
    const timer = setTimeout(() => void ask(), isFirst.current ? 0 : REST_MS);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [pipelineId, content, enabled, tries]);
  return { ...state, retry: () => setTries((count) => count + 1) };
}
