/** Code to read, to compare and to write: what draws it is large, and comes when one is shown. */
import { type ComponentProps, Suspense } from 'react';
import { lazyPart } from '../../api/lazy-part.ts';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { SkeletonBlock } from '../feedback/page-states.tsx';
import { SegmentedControl } from '../primitives/segmented-control.tsx';
import type { CodeInputProps } from './code-editor.tsx';

const LazyView = lazyPart(() => import('./code-view.tsx'), 'YamlView');
const LazyPlain = lazyPart(() => import('./code-view.tsx'), 'PlainView');
const LazyDiff = lazyPart(() => import('./code-view.tsx'), 'YamlDiff');
const LazyInput = lazyPart(() => import('./code-editor.tsx'), 'CodeInput');

const skeleton = <SkeletonBlock height={240} label="Loading the text" />;

export const YamlText = (props: ComponentProps<typeof LazyView>) => (
  <Suspense fallback={skeleton}>
    <LazyView {...props} />
  </Suspense>
);

export const OriginalText = (props: ComponentProps<typeof LazyPlain>) => (
  <Suspense fallback={skeleton}>
    <LazyPlain {...props} />
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
