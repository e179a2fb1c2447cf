/** Pull requests against the branch of an environment, and requests to promote into it and out of it. */
import '../../ui/styles/markdown.css';
import './promotions.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { OpenPullRequestDialog } from './open-pull-request-dialog.tsx';
import { FORGE_LABELS } from './promotion-text.ts';
import { PullRequestsTab } from './pull-requests-tab.tsx';
import { RequestsTab } from './requests-tab.tsx';

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
    (forge === 'none' ? null : `Pull requests of this repository are opened on ${FORGE_LABELS[forge]}.`);
  return (
    <Page
      title="Promotions"
      actions={
        <Button
          icon="plus"
          kind="primary"
          disabled={mayNot !== null}
          tip={mayNot ?? undefined}
          onClick={() => setOpened('1')}
        >
          Open a pull request
        </Button>
      }
    >
      <PageTabs
        label="Parts of the promotions page"
        value={tab}
        onChange={(value) =>
          void navigate(paths.promotions(env, { tab: value === 'requests' ? value : undefined }), {
            preventScrollReset: true,
          })
        }
        tabs={[
          {
            value: 'pulls',
            word: 'Pull requests',
            render: () => <PullRequestsTab key={env} openDialog={() => setOpened('1')} />,
          },
          {
            value: 'requests',
            word: 'Requests',
            mark: waiting.data ? <Badge tone="held">{waiting.data} to decide</Badge> : undefined,
            render: () => <RequestsTab key={env} />,
          },
        ]}
      />
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
