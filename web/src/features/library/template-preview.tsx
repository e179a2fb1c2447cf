import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TemplateSummary } from '../../../../schemas/api/pipelines/templates.ts';
import { queries } from '../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { Graph } from '../pipeline/graph.tsx';

interface Props {
  template: TemplateSummary;
  close: () => void;
  /** Null where the person may not make pipelines. */
  use: (() => void) | null;
}

/** Nothing flows through a template. */
const NO_THROUGHPUT: [] = [];

export const TemplateDialog = ({ template, close, use }: Props) => {
  const whole = useQuery(queries.template(template.id));
  return (
    <Dialog title={template.name} opened close={close} size="xl">
      <Stack gap="lg">
        {template.description && <p>{template.description}</p>}
        <Loaded
          query={whole}
          what="The template"
          skeleton={<SkeletonBlock height={240} label="Loading the template" />}
        >
          {({ nodes, edges }) => (
            <div className="framed">
              <Graph nodes={nodes} edges={edges} components={NO_THROUGHPUT} />
            </div>
          )}
        </Loaded>
        <Group gap="sm" justify="flex-end">
          <Button onClick={close}>Close</Button>
          {use && (
            <Button kind="primary" onClick={use}>
              Use it
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
};
