import { memo, useState } from 'react';
import { Link } from 'react-router';
import { writeDraft } from '../../../app/draft-storage.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { CopyButton } from '../../../ui/primitives/copy-button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { JsonTree } from '../../../ui/text/json-tree.tsx';
import type { ShownEvent } from './tap-buffer.ts';

interface Props {
  shown: ShownEvent;
  /** From 1. */
  number: number;
  unfolded?: boolean;
  /** One row's buttons can be reached by Tab; the arrow keys walk from there. */
  reachable: boolean;
  onUnfold?: () => void;
}

/** The rest of a line is in the unfolded event. */
const LINE_CHARS = 600;

const pretty = (event: unknown): string => JSON.stringify(event, null, 2);

const PlainEventRow = ({ shown: { event, text }, number, unfolded = false, reachable, onUnfold }: Props) => {
  const { environment } = usePlace();
  const [open, setOpen] = useState(unfolded);
  const tabIndex = reachable ? 0 : -1;
  return (
    <>
      <div className="event-head">
        <button
          type="button"
          className="log-button"
          tabIndex={tabIndex}
          aria-expanded={open}
          aria-label={`Event ${number}`}
          onClick={() => {
            if (!open) onUnfold?.();
            setOpen(!open);
          }}
        >
          <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
        </button>
        <span className="event-line mono">{text.slice(0, LINE_CHARS)}</span>
        <span className="event-tools">
          <CopyButton
            text={() => pretty(event)}
            label={`Copy event ${number}`}
            className="log-button"
            tabIndex={tabIndex}
          />
          {/* The event stays in this browser: it may hold what no address should. */}
          <Link
            to={paths.playground(environment.id)}
            className="log-button"
            tabIndex={tabIndex}
            aria-label={`Try VRL on event ${number}`}
            data-tip="Try VRL on this event"
            onClick={() => writeDraft('vrl-event', pretty(event))}
          >
            <Icon name="playground" size={12} />
          </Link>
        </span>
      </div>
      {open && <JsonTree value={event} />}
    </>
  );
};

export const EventRow = memo(PlainEventRow);
