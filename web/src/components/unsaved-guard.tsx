/** Asks before something is left that was typed and is not saved: by a link, by Back, or by closing the page. */
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Dialog } from './dialog.tsx';

interface Props {
  unsaved: boolean;
  /** What would be lost, as a sentence. */
  text: string;
}

export const UnsavedGuard = ({ unsaved, text }: Props) => {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      unsaved &&
      currentLocation.pathname + currentLocation.search !== nextLocation.pathname + nextLocation.search,
  );
  useEffect(() => {
    if (!unsaved) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [unsaved]);
  const stay = (): void => {
    if (blocker.state === 'blocked') blocker.reset();
  };
  return (
    <Dialog title="Leave without saving?" opened={blocker.state === 'blocked'} close={stay} size="sm">
      <div className="form">
        <p>{text}</p>
        <div className="form-actions">
          <button type="button" className="button" onClick={stay} data-autofocus>
            Stay
          </button>
          <button type="button" className="button" data-kind="danger" onClick={() => blocker.proceed?.()}>
            Leave
          </button>
        </div>
      </div>
    </Dialog>
  );
};
