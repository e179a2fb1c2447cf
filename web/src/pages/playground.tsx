import { Tabs } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { Page } from '../components/page.tsx';
import { ConfigTab } from './playground/config-tab.tsx';
import { VrlTab } from './playground/vrl-tab.tsx';

const TABS = [
  { value: 'vrl', word: 'VRL' },
  { value: 'config', word: 'Config' },
] as const;

/** Trying things that touch nothing: what is written stays in this browser. */
export const PlaygroundPage = () => {
  const [params, setParams] = useSearchParams();
  const tab = params.get('tab') === 'config' ? 'config' : 'vrl';
  return (
    <Page title="Playground">
      <p className="muted">
        Nothing here touches a pipeline. What you write stays in this browser, and is sent to the controller
        to be tried.
      </p>
      <Tabs
        value={tab}
        onChange={(value) => setParams(value === 'config' ? { tab: 'config' } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label="What is tried">
          {TABS.map(({ value, word }) => (
            <Tabs.Tab key={value} value={value}>
              {word}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="vrl">
          <VrlTab />
        </Tabs.Panel>
        <Tabs.Panel value="config">
          <ConfigTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
};
