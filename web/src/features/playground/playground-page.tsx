import { useSearchParams } from 'react-router';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { ConfigTab } from './config-tab.tsx';
import { VrlTab } from './vrl-tab.tsx';

const TABS = [
  { value: 'vrl', word: 'VRL', render: () => <VrlTab /> },
  { value: 'config', word: 'Config', render: () => <ConfigTab /> },
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
      <PageTabs
        label="What is tried"
        value={tab}
        onChange={(value) => setParams(value === 'config' ? { tab: 'config' } : {}, { replace: true })}
        tabs={TABS}
      />
    </Page>
  );
};
