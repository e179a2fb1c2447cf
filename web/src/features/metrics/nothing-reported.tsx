import { EmptyState } from '../../ui/feedback/page-states.tsx';

export const NothingReported = () => (
  <EmptyState icon="metrics" title="Nothing was reported in this time">
    <p>
      Points are there one to two minutes after a node has reported. Choose a longer time, or look at the
      nodes.
    </p>
  </EmptyState>
);
