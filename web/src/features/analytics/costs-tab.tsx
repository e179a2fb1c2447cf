import { Stack } from '@mantine/core';
import { Costs } from './costs.tsx';
import { Recommendations } from './recommendations.tsx';

export const CostsTab = () => (
  <Stack gap="md">
    <Costs />
    <Recommendations />
  </Stack>
);
