import { Tabs } from '@mantine/core';
import { Link, useSearchParams } from 'react-router';
import { usePlace } from '../app/environment.tsx';
import { type LibraryTab, paths } from '../app/paths.ts';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { SharedComponents } from './library/shared-components.tsx';
import { Snippets } from './library/snippets.tsx';
import { Templates } from './library/templates.tsx';

const TABS: readonly { value: LibraryTab; word: string }[] = [
  { value: 'templates', word: 'Templates' },
  { value: 'snippets', word: 'Snippets' },
  { value: 'shared', word: 'Shared components' },
];

/** What pipelines are begun with and built of. In the address: the tab, and what of it is open. */
export const LibraryPage = () => {
  const { environment } = usePlace();
  const [params, setParams] = useSearchParams();
  const tab = TABS.find(({ value }) => value === params.get('tab'))?.value ?? 'templates';
  return (
    <Page
      title="Library"
      actions={
        <Link to={paths.playground(environment.id)} className="button">
          <Icon name="playground" size={14} /> Playground
        </Link>
      }
    >
      <Tabs
        value={tab}
        onChange={(value) => setParams(value && value !== 'templates' ? { tab: value } : {})}
        keepMounted={false}
      >
        <Tabs.List aria-label="Parts of the library">
          {TABS.map(({ value, word }) => (
            <Tabs.Tab key={value} value={value}>
              {word}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="templates">
          <Templates />
        </Tabs.Panel>
        <Tabs.Panel value="snippets">
          <Snippets />
        </Tabs.Panel>
        <Tabs.Panel value="shared">
          <SharedComponents />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
};
