/** Code to read, to compare and to write: what draws it is large, and comes when one is shown. */
import { type ComponentProps, lazy, Suspense } from 'react';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { SkeletonBlock } from '../primitives/page-states.tsx';
import { SegmentedControl } from '../primitives/segmented-control.tsx';
import type { CodeInputProps } from './code-editor.tsx';

const LazyView = lazy(() => import('./code-view.tsx').then((module) => ({ default: module.YamlView })));
const LazyDiff = lazy(() => import('./code-view.tsx').then((module) => ({ default: module.YamlDiff })));
const LazyInput = lazy(() => import('./code-editor.tsx').then((module) => ({ default: module.CodeInput })));

const skeleton = <SkeletonBlock height={240} label="Loading the text" />;

export const YamlText = (props: ComponentProps<typeof LazyView>) => (
  <Suspense fallback={skeleton}>
    <LazyView {...props} />
  </Suspense>
);

export const CodeField = (props: CodeInputProps) => (
  <Suspense fallback={skeleton}>
    <LazyInput {...props} />
  </Suspense>
);

const LAYOUTS = [
  { value: 'unified', word: 'Unified' },
  { value: 'split', word: 'Side by side' },
] as const;

const useDiffLayout = (): 'unified' | 'split' => (usePreference('diff') === 'split' ? 'split' : 'unified');

/** Chooses how every difference is shown, here and elsewhere. */
export const DiffLayout = () => (
  <SegmentedControl
    label="Layout"
    value={useDiffLayout()}
    options={LAYOUTS}
    onChange={(value) => writePreference('diff', value)}
  />
);

export const Diff = (props: Omit<ComponentProps<typeof LazyDiff>, 'layout'>) => {
  const layout = useDiffLayout();
  const { before, after, beforeLabel, afterLabel } = props;
  // All of it is new, or gone: an empty text beside it would say nothing.
  if (before === '') return <YamlText text={after} label={afterLabel} />;
  if (after === '') return <YamlText text={before} label={beforeLabel} />;
  return (
    <Suspense fallback={skeleton}>
      <LazyDiff {...props} layout={layout} />
    </Suspense>
  );
};
