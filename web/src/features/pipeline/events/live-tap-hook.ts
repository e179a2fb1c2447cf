import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { api, partingApi } from '../../../api/client.ts';
import { type LiveState, LiveTap } from './live-tap.ts';

interface Aim {
  pipelineId: string;
  componentKey: string;
  /** Empty for any. */
  nodeId: string;
}

/** Rests until it is started. Ends with the component, the page, and a page that is out of sight for long. */
export function useLiveTap({ pipelineId, componentKey, nodeId }: Aim): { tap: LiveTap; state: LiveState } {
  const tap = useMemo(
    () =>
      new LiveTap({
        start: () =>
          api.pipeline.startTap.mutate({ pipelineId, componentKey, ...(nodeId ? { nodeId } : {}) }),
        stop: (tapId) => void partingApi.pipeline.stopTap.mutate({ tapId }).catch(() => {}),
        open: (tapId) => new EventSource(`/api/taps/${encodeURIComponent(tapId)}`),
      }),
    [pipelineId, componentKey, nodeId],
  );
  useEffect(() => {
    const onVisibility = (): void => tap.hide(document.hidden);
    // A page may come back as it was left.
    const onLeave = (): void => tap.stop('It was stopped, since the page was left.');
    document.addEventListener('visibilitychange', onVisibility);
    window.addEventListener('pagehide', onLeave);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('pagehide', onLeave);
      tap.leave();
    };
  }, [tap]);
  return { tap, state: useSyncExternalStore(tap.subscribe, tap.getState) };
}
