import { type ComponentProps, Suspense } from 'react';
import { lazyPart } from '../../api/lazy-part.ts';
import { SkeletonBlock } from '../feedback/page-states.tsx';
import type { LogViewer } from './log-viewer.tsx';

const Viewer = lazyPart(() => import('./log-viewer.tsx'), 'LogViewer');

/** The log viewer comes only with the pages that show one. */
export const LazyLogViewer = (props: ComponentProps<typeof LogViewer>) => (
  <Suspense fallback={<SkeletonBlock height="calc(var(--log-height) + 49px)" label="Loading the log" />}>
    <Viewer {...props} />
  </Suspense>
);
