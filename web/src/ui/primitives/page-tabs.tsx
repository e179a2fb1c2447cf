import { Tabs } from '@mantine/core';
import { type ReactNode, type Ref, Suspense } from 'react';
import { SkeletonRows } from '../feedback/page-states.tsx';

interface Props<V extends string> {
  label: string;
  value: V;
  tabs: readonly { value: V; word: string; mark?: ReactNode; render: () => ReactNode }[];
  onChange: (value: V) => void;
  ref?: Ref<HTMLDivElement>;
}

/** The parts of a page. Only the one in sight is drawn, and its code may still be on its way. */
export const PageTabs = <V extends string>({ label, value, tabs, onChange, ref }: Props<V>) => (
  <Tabs
    ref={ref}
    value={value}
    onChange={(next) => {
      const tab = tabs.find((each) => each.value === next);
      if (tab) onChange(tab.value);
    }}
  >
    <Tabs.List aria-label={label}>
      {tabs.map((tab) => (
        <Tabs.Tab key={tab.value} value={tab.value} rightSection={tab.mark}>
          {tab.word}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {tabs.map((tab) => (
      <Tabs.Panel key={tab.value} value={tab.value}>
        <Suspense fallback={<SkeletonRows rows={8} />}>{tab.value === value && tab.render()}</Suspense>
      </Tabs.Panel>
    ))}
  </Tabs>
);
