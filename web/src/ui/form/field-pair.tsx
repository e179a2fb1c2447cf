import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';

/** Fields side by side, as long as there is room. */
export const FieldPair = ({ children }: { children: ReactNode }) => (
  <SimpleGrid minColWidth="160px" autoFlow="auto-fit" spacing="lg">
    {children}
  </SimpleGrid>
);
