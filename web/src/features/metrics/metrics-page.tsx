import { lazyPart } from '../../api/lazy-part.ts';
import type { MetricsTab } from '../../app/paths.ts';
import { useAddressParam } from '../../app/search-params.ts';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';

const EnvironmentMetrics = lazyPart(() => import('./environment-metrics.tsx'), 'EnvironmentMetrics');
const Costs = lazyPart(() => import('../analytics/costs-tab.tsx'), 'CostsTab');

const TABS: readonly { value: MetricsTab; word: string; Part: typeof EnvironmentMetrics }[] = [
  { value: 'throughput', word: 'Throughput', Part: EnvironmentMetrics },
  { value: 'costs', word: 'Volumes and costs', Part: Costs },
];

/** What an environment moves, over time and in money. */
export const MetricsPage = () => {
  const [wanted, setTab] = useAddressParam('tab', { replace: true });
  const tab = TABS.find(({ value }) => value === wanted)?.value ?? 'throughput';
  return (
    <Page title="Metrics">
      <PageTabs
        label="Parts of the metrics"
        value={tab}
        onChange={setTab}
        tabs={TABS.map(({ value, word, Part }) => ({ value, word, render: () => <Part /> }))}
      />
    </Page>
  );
};
