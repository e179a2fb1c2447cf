import { useQuery } from '@tanstack/react-query';
import type { TemplateSummary } from '../../../../schemas/api/templates.ts';
import { queries } from '../../api/queries.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
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
      <div className="form">
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
        <div className="form-actions">
          <button type="button" className="button" onClick={close}>
            Close
          </button>
          {use && (
            <button type="button" className="button" data-kind="primary" onClick={use}>
              Use it
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
};
