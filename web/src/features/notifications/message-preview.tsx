import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import { queries } from '../../api/queries/index.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';

interface Props {
  teamId: string;
  format: NotificationFormat;
}

/** An example of a message in the format that is chosen, once somebody wants to see it. */
export const MessagePreview = ({ teamId, format }: Props) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="form">
      <span>
        <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the example' : 'Show an example of a message'}
        </Button>
      </span>
      {isOpen && <Example teamId={teamId} format={format} />}
    </div>
  );
};

const Example = ({ teamId, format }: Props) => {
  const preview = useQuery(queries.notificationPreview(teamId, format));
  return (
    <Loaded
      query={preview}
      what="The example"
      skeleton={<SkeletonRows rows={4} label="Loading the example" />}
    >
      {({ subject, body }) => (
        <CommandBlock
          label="the example"
          lines={[...(subject === null ? [] : [`Subject: ${subject}`, '']), ...body.trimEnd().split('\n')]}
        />
      )}
    </Loaded>
  );
};
