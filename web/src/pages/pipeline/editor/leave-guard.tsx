/** Asks before a drawing is left that is not saved: by a link, by Back, or by closing the page. */
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Dialog } from '../../../components/dialog.tsx';

interface Props {
  dirty: boolean;
  /** YAML was edited and is not applied: saving would not take it along. */
  text: boolean;
  saving: boolean;
  /** Resolves to whether it was saved. */
  save: () => Promise<boolean>;
}

export const LeaveGuard = ({ dirty, text, saving, save }: Props) => {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => dirty && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [dirty]);
  const isBlocked = blocker.state === 'blocked';
  const stay = (): void => {
    if (isBlocked) blocker.reset();
  };
  return (
    <Dialog title="Leave without saving?" opened={isBlocked} close={stay} size="sm">
      <div className="form">
        <p>
          {text
            ? 'The YAML that you edited is not applied to the drawing.'
            : 'What you have drawn is not saved.'}
        </p>
        <div className="form-actions">
          <button type="button" className="button" onClick={stay} data-autofocus>
            Stay
          </button>
          <button type="button" className="button" data-kind="danger" onClick={() => blocker.proceed?.()}>
            Leave
          </button>
          {!text && (
            <button
              type="button"
              className="button"
              data-kind="primary"
              disabled={saving}
              onClick={async () => {
                if (await save()) blocker.proceed?.();
                else stay();
              }}
            >
              Save and leave
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
};
