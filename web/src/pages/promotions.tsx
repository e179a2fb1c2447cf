/** Pull requests against the branch of an environment, and requests to promote into it and out of it. */
import '../styles/promotions.css';
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { queries } from '../api/queries.ts';
import { useAddressParam } from '../app/address.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Badge } from '../components/bits.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { whyNot } from './fleet/may.ts';
import { OpenPullRequestDialog } from './promotions/open-dialog.tsx';
import { PullRequestsTab } from './promotions/pull-requests-tab.tsx';
import { RequestsTab } from './promotions/requests-tab.tsx';
import { FORGE_WORDS } from './promotions/words.ts';

/** In the address: `tab`, `state`, `new`, and what the tables put there. */
export const PromotionsPage = () => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const navigate = useNavigate();
  const git = useQuery(queries.git(env));
  const waiting = useQuery({ ...queries.promotions(env), select: toDecideIn(env) });
  const [wanted] = useAddressParam('tab');
  const [opened, setOpened] = useAddressParam('new', { replace: true });
  const tab = wanted === 'requests' ? 'requests' : 'pulls';
  const forge = git.data?.forge?.name ?? 'none';
  const mayNot =
    whyNot(team.role, 'EDITOR') ??
    (git.data && !git.data.configured ? 'The environment is not bound to git.' : null) ??
    (forge === 'none' ? null : `Pull requests of this repository are opened on ${FORGE_WORDS[forge]}.`);
  return (
    <Page
      title="Promotions"
      actions={
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={mayNot !== null}
          data-tip={mayNot ?? undefined}
          onClick={() => setOpened('1')}
        >
          <Icon name="plus" /> Open a pull request
        </button>
      }
    >
      <Tabs
        value={tab}
        onChange={(value) =>
          void navigate(paths.promotions(env, { tab: value === 'requests' ? 'requests' : undefined }), {
            preventScrollReset: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List aria-label="Parts of the promotions page">
          <Tabs.Tab value="pulls">Pull requests</Tabs.Tab>
          <Tabs.Tab
            value="requests"
            rightSection={waiting.data ? <Badge tone="held">{waiting.data} to decide</Badge> : null}
          >
            Requests
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="pulls">
          <PullRequestsTab key={env} openDialog={() => setOpened('1')} />
        </Tabs.Panel>
        <Tabs.Panel value="requests">
          <RequestsTab key={env} />
        </Tabs.Panel>
      </Tabs>
      {opened !== '' && mayNot === null && (
        <OpenPullRequestDialog base={git.data?.branch ?? 'its branch'} close={() => setOpened('')} />
      )}
    </Page>
  );
};

const toDecideIn =
  (env: string) =>
  (list: readonly { status: string; targetEnvironmentId: string }[]): number =>
    list.filter(({ status, targetEnvironmentId }) => status === 'PENDING' && targetEnvironmentId === env)
      .length;
