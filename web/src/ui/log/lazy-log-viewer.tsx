import { type ComponentProps, lazy, Suspense } from 'react';
import { SkeletonBlock } from '../primitives/page-states.tsx';
import type { LogViewer } from './log-viewer.tsx';

const Viewer = lazy(() => import('./log-viewer.tsx').then((module) => ({ default: module.LogViewer })));

/** The log viewer comes only with the pages that show one. */
export const LazyLogViewer = (props: ComponentProps<typeof LogViewer>) => (
  <Suspense fallback={<SkeletonBlock height="calc(var(--log-height) + 49px)" label="Loading the log" />}>
    <Viewer {...props} />
  </Suspense>
);
